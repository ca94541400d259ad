import { rotateSecret } from '../../accounts/byok/rotate-secret.ts';
import { createSecrets } from '../../accounts/byok/secrets.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ManagementServices } from '../../http/management/route.ts';
import { createByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { Foundation } from '../foundation.ts';
import { namesSecret, vaultReferencesIn } from './references.ts';
import { sealedTables } from './sealed-tables.ts';

/** The number of credentials that are searched for references: all that an account may have. */
const CREDENTIALS_MAX = 1_000;

/** What the routes of the vault work on. */
export function createVaultServices({
  shared,
  storage,
}: Pick<Foundation, 'shared' | 'storage'>): Pick<ManagementServices, 'vault' | 'vaultWriters' | 'rotateMasterKey'> {
  const { config, vault } = shared;
  const { database } = storage;
  const credentials = createByokKeyStore({ database });
  return {
    vault: vault.openVault(async (scope, name) => {
      const inConfig = scope.kind === 'operator' ? vaultReferencesIn(config) : [];
      const byok = await credentials.all(CREDENTIALS_MAX);
      return [
        ...inConfig.filter(({ text }) => namesSecret(text, name)).map(({ path }) => path),
        ...byok
          .filter((row) => (row.workspaceId ?? 'operator') === scope.id && row.label === `vault:${name}`)
          .map(({ provider, id }) => `the credential ${id} of ${provider}`),
      ];
    }),
    vaultWriters: config.vault.writers,
    async rotateMasterKey() {
      if (config.secret !== undefined)
        throw new GatewayError(
          'invalid_request',
          'GATEWAY_SECRET is set: set another one there, move this one to GATEWAY_SECRET_PREVIOUS, start again, and run `model-gateway secret rotate`.',
          { status: 409 },
        );
      return rotateSecret(createSecrets(config), sealedTables(database));
    },
  };
}
