import type { Clock } from '../../lib/clock.ts';
import { loadKnownModels, type LiveCatalog } from '../catalog/live-catalog.ts';
import { canonicalSlug } from '../../providers/aliases.ts';
import type { BetaTable } from '../../providers/beta-flags.ts';
import { ProviderSetupError } from '../../providers/check-settings.ts';
import type { AttemptTimeouts, Provider } from '../../providers/contract.ts';
import { createProviders, missingKey } from '../../providers/index.ts';

/** Providers that the operator has no credential for, and the account has. */
export interface ByokProviders {
  /** One that is there, or that could be. @param name its slug, or another name of it */
  find(name: string): Provider | undefined;
  /** There is a credential for each of these. @returns whether a provider became available */
  admit(slugs: Iterable<string>): boolean;
}

export function createByokProviders(parts: {
  readonly providers: Map<string, Provider>;
  readonly timeouts: AttemptTimeouts;
  readonly betaTable: BetaTable;
}): ByokProviders {
  const { providers, timeouts, betaTable } = parts;
  const find = (name: string): Provider | undefined => {
    const slug = providers.has(name) ? name : canonicalSlug(name);
    return providers.get(slug) ?? knownProvider(slug, timeouts, betaTable);
  };
  return {
    find,
    admit(slugs) {
      let hasChanged = false;
      for (const slug of slugs) {
        const provider = find(slug);
        if (provider === undefined || provider.hasByokCredentials === true || missingKey(provider).length === 0)
          continue;
        providers.set(slug, { ...provider, hasByokCredentials: true });
        hasChanged = true;
      }
      return hasChanged;
    },
  };
}

/** Without any key. Providers that need further settings must be configured. */
function knownProvider(slug: string, timeouts: AttemptTimeouts, betaTable: BetaTable): Provider | undefined {
  try {
    const named = createProviders({ config: [], env: {}, timeouts, named: new Set([slug]), betaTable }).get(slug);
    // Engines without a key run on a private machine, which only the operator knows.
    return named !== undefined && missingKey(named).length > 0 ? named : undefined;
  } catch (error) {
    if (error instanceof ProviderSetupError) return undefined;
    throw error;
  }
}

/** Updates the catalog when a provider becomes available. */
export function createIntake(parts: {
  readonly byok: ByokProviders;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly live: LiveCatalog;
  /** Whether the project's own files were read at the start. */
  readonly isLoaded: boolean;
  readonly clock: Clock;
}): (slugs: Iterable<string>) => Promise<void> {
  const { byok, providers, live, clock } = parts;
  let { isLoaded } = parts;
  let loading: Promise<void> | undefined;

  async function load(): Promise<void> {
    const known = await loadKnownModels(providers, clock.nowMs());
    isLoaded = known.length > 0;
    live.learned(known);
  }

  return async (slugs) => {
    if (!byok.admit(slugs)) return loading;
    if (isLoaded) {
      live.rebuild();
      return undefined;
    }
    const before = loading ?? Promise.resolve();
    loading = before.then(load).finally(() => (loading = undefined));
    return loading;
  };
}
