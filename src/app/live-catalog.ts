import { catalogFromConfig, usableVendors } from './catalog-from-config.ts';
import { knownModels, type KnownModel } from '../catalog/built-in.ts';
import type { Catalog, Model } from '../catalog/model.ts';
import { loadPriceLibrary } from '../catalog/price-library.ts';
import { readCatalogData, readProviderData } from '../catalog/read-data.ts';
import type { Config } from '../config/config.ts';
import type { Provider } from '../providers/contract.ts';

/** The catalog as it stands now. Whoever holds `catalog` sees every change with the next look-up. */
export interface LiveCatalog {
  readonly catalog: Catalog;
  /** Takes over the models of a configuration that was read again. */
  configure(config: CatalogConfig): void;
  /** Takes over what a provider was found to serve: models that nobody named. */
  discovered(provider: string, models: readonly string[]): void;
  /** Who can be asked has changed. */
  rebuild(): void;
  /** Takes over what is known of models from now on, in place of what was. */
  learned(known: readonly KnownModel[]): void;
}

type CatalogConfig = Pick<Config, 'models' | 'passThrough' | 'providers'>;

export function createLiveCatalog(parts: {
  readonly config: CatalogConfig;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly builtIn: readonly Model[];
  readonly known: readonly KnownModel[];
}): LiveCatalog {
  const { providers, builtIn } = parts;
  const found = new Map<string, readonly string[]>();
  let { config, known } = parts;
  let current = build();

  function build(): Catalog {
    return catalogFromConfig(config, providers, builtIn, known, found);
  }

  return {
    catalog: {
      find: (slug) => current.find(slug),
      list: () => current.list(),
      resolve: (slug) => current.resolve?.(slug),
    },
    configure(next) {
      config = next;
      current = build();
    },
    discovered(provider, models) {
      found.set(provider, models);
      current = build();
    },
    rebuild() {
      current = build();
    },
    learned(next) {
      known = next;
      current = build();
    },
  };
}

/** What the project's own files know; nothing is read where none of their providers can be asked. */
export async function loadKnownModels(
  providers: ReadonlyMap<string, Provider>,
  nowMs: number,
): Promise<readonly KnownModel[]> {
  const usable = usableVendors(providers);
  if (!readProviderData().some(({ slug }) => usable.has(slug))) return [];
  return knownModels(readCatalogData(), await loadPriceLibrary(nowMs));
}
