import { rotateSecret } from '../../accounts/byok/rotate-secret.ts';
import { createSecrets } from '../../accounts/byok/secrets.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ManagementServices } from '../../http/management/route.ts';
import { isJsonObject, type Json } from '../../lib/json.ts';
import { createByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { DestinationRecord, Destinations } from '../../telemetry/destinations/destinations.ts';
import type { Channels } from '../../notifications/channels.ts';
import type { Foundation } from '../foundation.ts';
import { namesSecret, vaultReferencesIn } from './references.ts';
import { sealedTables } from './sealed-tables.ts';

/** The number of credentials that are searched for references: all that an account may have. */
const CREDENTIALS_MAX = 1_000;
/** The same of destinations. */
const DESTINATIONS_MAX = 1_000;
/** The same of notification channels: all that there may be. */
const CHANNELS_MAX = 50;

/** What the routes of the vault work on. */
export function createVaultServices(
  { shared, storage }: Pick<Foundation, 'shared' | 'storage'>,
  destinations: Pick<Destinations, 'list'>,
  channels: Pick<Channels, 'list'>,
): Pick<ManagementServices, 'vault' | 'vaultWriters' | 'rotateMasterKey'> {
  const { config, vault } = shared;
  const { database } = storage;
  const credentials = createByokKeyStore({ database });
  return {
    vault: vault.openVault(async (scope, name) => {
      const inConfig = scope.kind === 'operator' ? vaultReferencesIn(config) : [];
      const byok = await credentials.all(CREDENTIALS_MAX);
      const sent = scope.kind === 'operator' ? [] : await listAll(destinations, scope.id);
      const notified = scope.kind === 'operator' ? (await channels.list({ offset: 0, limit: CHANNELS_MAX })).rows : [];
      return [
        ...inConfig.filter(({ text }) => namesSecret(text, name)).map(({ path }) => path),
        ...byok
          .filter((row) => (row.workspaceId ?? 'operator') === scope.id && row.label === `vault:${name}`)
          .map(({ provider, id }) => `the credential ${id} of ${provider}`),
        ...sent
          .filter(({ config: shown }) => textsIn(shown).some((text) => namesSecret(text, name)))
          .map(({ id, name: own }) => `the destination ${own} (${id})`),
        ...notified
          .filter(({ url }) => url !== null && namesSecret(url, name))
          .map(({ id, name: own }) => `the notification channel ${own} (${id})`),
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

/** As they are shown, with references in clear. */
async function listAll(
  destinations: Pick<Destinations, 'list'>,
  workspaceId: string,
): Promise<readonly DestinationRecord[]> {
  return (await destinations.list({ offset: 0, limit: DESTINATIONS_MAX, workspaceId })).rows;
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
