import { z } from 'zod';
import type { VaultConfig } from '../config.ts';
import { key } from './key.ts';
import { OFF, optionalSection } from './parts.ts';

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
