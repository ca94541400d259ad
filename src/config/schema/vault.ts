import { z } from 'zod';
import type { VaultConfig, WebCredential } from '../config.ts';
import { key } from './key.ts';
import { namesVault } from '../../canonical/vault-reference.ts';
import { headerName, headerValue, OFF, optionalSection } from './parts.ts';

const WEB_CREDENTIALS_MAX = 100;
const HOST = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** Headers with which pages of single hosts are fetched. */
export const webCredentials = key(
  z
    .record(
      z.string().regex(HOST, 'must be a host name in lower case, without a scheme and a port'),
      z.record(
        headerName,
        headerValue.refine(namesVault, 'must name a secret of the vault, as in "Bearer ${vault:NAME}"'),
      ),
    )
    .refine(
      (hosts) => Object.keys(hosts).length <= WEB_CREDENTIALS_MAX,
      `must have at most ${WEB_CREDENTIALS_MAX} hosts`,
    ),
  'Headers with which pages of a host are fetched; each names a secret of the vault that is bound to the host.',
  { usual: 'none', example: { 'wiki.example': { authorization: 'Bearer ${vault:wiki}' } } },
);

/** One entry for each header. */
export function webCredentialsOf(hosts: z.output<typeof webCredentials> = {}): readonly WebCredential[] {
  return Object.entries(hosts).flatMap(([host, headers]) =>
    Object.entries(headers).map(([header, value]) => ({ host, header, value })),
  );
}

export const vaultSection = optionalSection(
  {
    writes: key(z.boolean(), 'Secrets may be stored and deleted.', { default: true, example: false }),
    writers: key(
      z.enum(['admins', 'any']),
      'Which normal keys may change secrets of their workspace: those of its admins, or all. Management keys always may.',
      { default: 'admins', example: 'any' },
    ),
    allow_private_hosts: key(
      z.boolean(),
      "Secrets may be bound and sent to hosts of the operator's own network, be it without TLS and at any port.",
      OFF,
    ),
  },
  'Secrets that are bound to hosts: docs/vault.md.',
);

/** The section with its defaults. */
export function vaultOf({
  writes = true,
  writers = 'admins',
  allow_private_hosts: allowPrivateHosts = false,
}: z.output<typeof vaultSection>): VaultConfig {
  return { writes, writers, allowPrivateHosts };
}
