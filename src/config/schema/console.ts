import { z } from 'zod';
import type { ConsoleConfig } from '../config.ts';
import { key } from './key.ts';
import { OFF, optionalSection } from './parts.ts';

const HOSTS_MAX = 100;
const HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$|^\[[0-9a-f:.]+\]$/i;

export const consoleSection = optionalSection(
  {
    enabled: key(z.boolean(), 'Serves the dashboard at `/` and below `/ui`.', { default: true, example: false }),
    allowed_hosts: key(
      z.array(z.string().regex(HOST, 'must be a host name or an address, without a scheme and a port')).max(HOSTS_MAX),
      'Host names under which browsers find the dashboard, besides those of this machine.',
      { usual: 'none', example: ['gateway.example'] },
    ),
    plain_http: key(
      z.boolean(),
      'Browsers on other machines may sign in without TLS, so that anyone on the way can read along.',
      OFF,
    ),
  },
  'The dashboard: docs/dashboard.md.',
);

/** The section with its defaults. */
export function consoleOf({
  enabled = true,
  allowed_hosts: hosts = [],
  plain_http: plainHttp = false,
}: z.output<typeof consoleSection>): ConsoleConfig {
  return { enabled, allowedHosts: hosts.map((host) => host.toLowerCase()), plainHttp };
}
