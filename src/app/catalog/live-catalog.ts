import { catalogFromConfig, usableVendors } from './catalog-from-config.ts';
import { missingProvidersOf } from './missing-providers.ts';
import { knownModels, type KnownModel } from '../../catalog/built-in.ts';
import type { OwnScores } from '../../catalog/add-scores.ts';
import type { Catalog, Model, Score } from '../../catalog/model.ts';
import { createModelNames, type ModelNames } from '../../catalog/model-names.ts';
import { loadPriceLibrary } from '../../catalog/price-library.ts';
import { readCatalogData, readProviderData } from '../../catalog/read-data.ts';
import type { Config } from '../../config/config.ts';
import type { Provider } from '../../providers/contract.ts';

/** The present catalog. Every look-up through `catalog` sees all changes. */
export interface LiveCatalog {
  readonly catalog: Catalog;
  /** Takes over the models of a configuration that was read again. */
  configure(config: CatalogConfig): void;
  /** Adds the models that a provider was found to serve, in addition to the configured ones. */
  discovered(provider: string, models: readonly string[]): void;
  /** Takes over the scores of the operator's own, by the slugs of models. */
  scored(scores: ReadonlyMap<string, readonly Score[]>): void;
  /** The set of available providers has changed. */
  rebuild(): void;
  /** Takes over what is known of models from now on, in place of what was. */
  learned(known: readonly KnownModel[]): void;
}

type CatalogConfig = Pick<Config, 'models' | 'passThrough' | 'providers' | 'aliases' | 'resolveBareNames' | 'scores'>;

export function createLiveCatalog(parts: {
  readonly config: CatalogConfig;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly builtIn: readonly Model[];
  readonly known: readonly KnownModel[];
}): LiveCatalog {
  const { providers, builtIn } = parts;
  const found = new Map<string, readonly string[]>();
  let { config, known } = parts;
  let scores: OwnScores['scores'] = new Map();
  let { current, names } = build();

  function build(): { readonly current: Catalog; readonly names: ModelNames } {
    const own = { scores, abilities: config.scores.abilities };
    const built = catalogFromConfig(config, providers, builtIn, known, found, own);
    const { aliases, resolveBareNames } = config;
    return { current: built, names: createModelNames(built.list(), { aliases, resolvesBareNames: resolveBareNames }) };
  }

  function rebuild(): void {
    ({ current, names } = build());
  }

  return {
    catalog: {
      find: (slug) => current.find(names.rename(slug)),
      list: () => current.list(),
      resolve: (slug) => current.resolve?.(names.rename(slug)),
      rename: (name) => names.rename(name),
      suggest: (name) => names.suggest(name),
      missing: (slug) => missingProvidersOf(slug, providers),
    },
    configure(next) {
      config = next;
      rebuild();
    },
    discovered(provider, models) {
      found.set(provider, models);
      rebuild();
    },
    scored(next) {
      scores = next;
      rebuild();
    },
    rebuild,
    learned(next) {
      known = next;
      rebuild();
    },
  };
}

/** The models of the project's own files; nothing is read when none of their providers is available. */
export async function loadKnownModels(
  providers: ReadonlyMap<string, Provider>,
  nowMs: number,
): Promise<readonly KnownModel[]> {
  const usable = usableVendors(providers);
  if (!readProviderData().some(({ slug }) => usable.has(slug))) return [];
  return knownModels(readCatalogData(), await loadPriceLibrary(nowMs));
}
