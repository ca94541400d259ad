import { createByokProviders, createIntake, type ByokProviders } from '../providers/byok-providers.ts';
import type { KnownModel } from '../../catalog/built-in.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createLiveCatalog, loadKnownModels, type LiveCatalog } from './live-catalog.ts';
import { withVaultSecrets } from '../vault/vault-providers.ts';
import type { VaultArea } from '../vault/vault-area.ts';
import { providersFromConfig } from '../providers/providers-from-config.ts';
import type { BetaTable } from '../../providers/beta-flags.ts';
import type { Provider } from '../../providers/contract.ts';
import { sandboxModels } from '../../sandbox/models.ts';
import { createByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { Database } from '../../store/engine/database.ts';

/** The catalog, and the availability of its providers. */
export interface OpenCatalog {
  readonly providers: Map<string, Provider>;
  readonly byok: ByokProviders;
  /** What the project's own files know, as far as they were read. */
  readonly known: readonly KnownModel[];
  readonly live: LiveCatalog;
  /** There are BYOK credentials for these providers: settles when they are available. */
  readonly takeIn: (providers: Iterable<string>) => Promise<void>;
}

/**
 * Providers of the configuration, of the environment and of stored credentials, and the models that they serve.
 * @throws ProviderSetupError
 */
export async function openCatalog(parts: {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly betaTable: BetaTable;
  readonly database: Database;
  readonly sandboxBaseUrl: string;
  readonly vault: Pick<VaultArea, 'fill'>;
}): Promise<OpenCatalog> {
  const { config, env, clock, betaTable, database, sandboxBaseUrl, vault } = parts;
  const providers = new Map(
    withVaultSecrets(
      providersFromConfig(config, env, sandboxBaseUrl, betaTable),
      { config: config.providers, env, timeouts: config.timeouts, sandboxBaseUrl },
      vault.fill,
    ),
  );
  const byok = createByokProviders({ providers, timeouts: config.timeouts, betaTable });
  byok.admit(await createByokKeyStore({ database }).providers());
  const known = await loadKnownModels(providers, clock.nowMs());
  const live = createLiveCatalog({ config, providers, builtIn: sandboxModels(), known });
  const takeIn = createIntake({ byok, providers, live, isLoaded: known.length > 0, clock });
  return { providers, byok, known, live, takeIn };
}
