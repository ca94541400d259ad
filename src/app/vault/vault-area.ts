import { createSecrets } from '../../accounts/byok/secrets.ts';
import type { FillSecrets } from '../../canonical/vault-reference.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../store/engine/database.ts';
import type { Provider } from '../../providers/contract.ts';
import { createVaultReleaseStore } from '../../store/vault/vault-releases.ts';
import { createVaultSecretStore } from '../../store/vault/vault-secrets.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import type { Log } from '../../telemetry/logs.ts';
import { findUnresolved } from './find-unresolved.ts';
import type { ReferringConfig } from './references.ts';
import { createAgeWatch } from './watch-age.ts';
import type { Housekeeping } from '../../lib/async/housekeeping.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import { openValueStore } from './open-value-store.ts';
import { createReleaseLog } from '../../vault/release-log.ts';
import { createVaultValues, type VaultValues } from '../../vault/values.ts';
import { createVault, OPERATOR_SCOPE, type Vault } from '../../vault/vault.ts';

/** The vault, for what sends secrets, and for the routes. */
export interface VaultArea {
  readonly values: VaultValues;
  /** Fills what the configuration says. */
  readonly fill: FillSecrets;
  /** Fills what a workspace has stored, or with null what is for all of them. */
  fillOf(this: void, workspaceId: string | null): FillSecrets;
  /** @param referencesTo lists what refers to a secret */
  openVault(referencesTo: Vault['referencesTo']): Vault;
  /** Logs what the configuration names and would not be sent. Never rejects: the start goes on. @spec vault-13 */
  warnOfReferences(providers: ReadonlyMap<string, Provider>): Promise<void>;
  /** Notifies operators of values that are too old, from now on. One process of a gateway does. */
  reportStale(raise: (event: NewEvent) => Promise<void>): void;
  /** Stores the releases that were counted, and closes the back end. */
  close(): Promise<void>;
}

export function openVaultArea({
  config,
  database,
  invalidations,
  clock,
  log,
}: {
  readonly config: Pick<Config, 'secret' | 'previousSecret' | 'dataDir' | 'vault'> & ReferringConfig;
  readonly database: Database;
  readonly invalidations?: InvalidationBus;
  readonly clock: Clock;
  readonly log?: Log;
}): VaultArea {
  const store = createVaultSecretStore({ database, ...(invalidations !== undefined && { invalidations }) });
  const releases = createVaultReleaseStore({ database });
  const secrets = createSecrets(config);
  const box = () => secrets.box();
  const { allowPrivateHosts, writes, maxAgeMs } = config.vault;
  const releaseLog = createReleaseLog({
    store: releases,
    clock,
    onLost: (count, error) => log?.general.error({ count, err: error }, 'releases of secrets could not be recorded'),
  });
  const { outside, close: closeOutside } = openValueStore(config, clock);
  const values = createVaultValues({ store, box, clock, releases: releaseLog, allowPrivateHosts, outside });
  let ageWatch: Housekeeping | undefined;
  const staleFailed = (error: unknown) =>
    log?.general.warn({ err: error }, 'the age of secrets could not be looked at: tried again later');
  releaseLog.start();
  return {
    values,
    fill: values.fillIn(OPERATOR_SCOPE),
    fillOf: (workspaceId) =>
      values.fillIn(workspaceId === null ? OPERATOR_SCOPE : { kind: 'workspace', id: workspaceId }),
    openVault: (referencesTo) =>
      createVault({
        store,
        releases,
        flushReleases: () => releaseLog.flush(),
        box,
        clock,
        settings: { writes, allowPrivateHosts, maxAgeMs },
        referencesTo,
        outside,
      }),
    async warnOfReferences(providers) {
      for (const { path, problem } of await findUnresolved(config, providers, values))
        if (problem !== undefined) log?.general.warn({ path, reason: problem }, 'a secret of the vault is not sent');
    },
    reportStale(raise) {
      ageWatch ??= createAgeWatch({ store, maxAgeMs, clock, raise, onFailed: staleFailed });
      ageWatch.start();
    },
    async close() {
      await ageWatch?.stop();
      await releaseLog.close();
      await closeOutside();
    },
  };
}
