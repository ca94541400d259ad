import type { Clock } from '../lib/clock.ts';
import { loadKnownModels, type LiveCatalog } from './live-catalog.ts';
import { canonicalSlug } from '../providers/aliases.ts';
import type { BetaTable } from '../providers/beta-flags.ts';
import { ProviderSetupError } from '../providers/check-settings.ts';
import type { AttemptTimeouts, Provider } from '../providers/contract.ts';
import { createProviders, missingKey } from '../providers/index.ts';

/** Providers that the operator has no credential for, and the account has. */
export interface BroughtProviders {
  /** One that is there, or that could be. @param name its slug, or another name of it */
  find(name: string): Provider | undefined;
  /** There is a credential for each of these. Whether that changed who can be asked. */
  admit(slugs: Iterable<string>): boolean;
}

export function createBroughtProviders(parts: {
  readonly providers: Map<string, Provider>;
  readonly timeouts: AttemptTimeouts;
  readonly betaTable: BetaTable;
}): BroughtProviders {
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
        if (provider === undefined || provider.hasOwnCredentials === true || missingKey(provider).length === 0)
          continue;
        providers.set(slug, { ...provider, hasOwnCredentials: true });
        hasChanged = true;
      }
      return hasChanged;
    },
  };
}

/** Without a key of anybody's. What cannot be called without further settings is for the configuration to set up. */
function knownProvider(slug: string, timeouts: AttemptTimeouts, betaTable: BetaTable): Provider | undefined {
  try {
    const named = createProviders({ config: [], env: {}, timeouts, named: new Set([slug]), betaTable }).get(slug);
    // Engines that need no key run on somebody's machine: the operator knows whose.
    return named !== undefined && missingKey(named).length > 0 ? named : undefined;
  } catch (error) {
    if (error instanceof ProviderSetupError) return undefined;
    throw error;
  }
}

/** Brings the catalog up to date when a provider can be asked that could not. */
export function createIntake(parts: {
  readonly brought: BroughtProviders;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly live: LiveCatalog;
  /** Whether the project's own files were read at the start. */
  readonly isLoaded: boolean;
  readonly clock: Clock;
}): (slugs: Iterable<string>) => Promise<void> {
  const { brought, providers, live, clock } = parts;
  let { isLoaded } = parts;
  let loading: Promise<void> | undefined;

  async function load(): Promise<void> {
    const known = await loadKnownModels(providers, clock.nowMs());
    isLoaded = known.length > 0;
    live.learned(known);
  }

  return async (slugs) => {
    if (!brought.admit(slugs)) return loading;
    if (isLoaded) {
      live.rebuild();
      return undefined;
    }
    const before = loading ?? Promise.resolve();
    loading = before.then(load).finally(() => (loading = undefined));
    return loading;
  };
}
