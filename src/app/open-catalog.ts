import { createBroughtProviders, createIntake, type BroughtProviders } from './brought-providers.ts';
import type { KnownModel } from '../catalog/built-in.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { createLiveCatalog, loadKnownModels, type LiveCatalog } from './live-catalog.ts';
import { providersFromConfig } from './providers-from-config.ts';
import type { BetaTable } from '../providers/beta-flags.ts';
import type { Provider } from '../providers/contract.ts';
import { sandboxModels } from '../providers/sandbox/models.ts';
import { createByokKeyStore } from '../store/byok-keys.ts';
import type { Database } from '../store/database.ts';

/** Who can be asked for what. */
export interface OpenCatalog {
  readonly providers: Map<string, Provider>;
  readonly brought: BroughtProviders;
  /** What the project's own files know, as far as they were read. */
  readonly known: readonly KnownModel[];
  readonly live: LiveCatalog;
  /** There are credentials of the account's own for these providers: settles when they can be asked. */
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
}): Promise<OpenCatalog> {
  const { config, env, clock, betaTable, database, sandboxBaseUrl } = parts;
  const providers = new Map(providersFromConfig(config, env, sandboxBaseUrl, betaTable));
  const brought = createBroughtProviders({ providers, timeouts: config.timeouts, betaTable });
  brought.admit(await createByokKeyStore({ database }).providers());
  const known = await loadKnownModels(providers, clock.nowMs());
  const live = createLiveCatalog({ config, providers, builtIn: sandboxModels(), known });
  const takeIn = createIntake({ brought, providers, live, isLoaded: known.length > 0, clock });
  return { providers, brought, known, live, takeIn };
}
