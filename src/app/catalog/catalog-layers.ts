import { knownModels, type KnownModel } from '../../catalog/built-in.ts';
import { mergeRefreshed } from '../../catalog/merge-refreshed.ts';
import { loadPriceLibrary, type PriceLibrary } from '../../catalog/price-library.ts';
import { readCatalogData, type CatalogData } from '../../catalog/read-data.ts';
import { createRefreshFile } from '../../catalog/refresh-file.ts';
import type { RefreshedCatalog } from '../../catalog/refreshed.ts';
import { usableVendors } from './catalog-from-config.ts';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { providersFromConfig } from '../providers/providers-from-config.ts';

/** Every layer that a model's facts come from, lowest first. */
export interface CatalogLayers {
  readonly library: PriceLibrary;
  /** What was fetched last, where the operator turned that on. */
  readonly list: RefreshedCatalog | undefined;
  readonly data: CatalogData;
  readonly config: Config;
  /** What the project knows, without the list and with it. */
  readonly own: readonly KnownModel[];
  readonly known: readonly KnownModel[];
  /** Providers that are set up and have credentials, known vendors and the operator's own. */
  readonly usable: ReadonlySet<string>;
}

/** Stands for the sandbox's address, which is known only once it listens. */
const ANY_BASE_URL = 'http://127.0.0.1/v1';

export async function readLayers(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CatalogLayers> {
  const data = readCatalogData();
  const library = await loadPriceLibrary(systemClock.nowMs());
  const { refresh } = config.catalog;
  const list = refresh.enabled ? await createRefreshFile(config.dataDir).read() : undefined;
  const own = knownModels(data, library);
  const known = list === undefined ? own : mergeRefreshed(own, list, refresh);
  const vendors = usableVendors(providersFromConfig(config, env, ANY_BASE_URL));
  const usable = new Set([...vendors, ...config.providers.map(({ slug }) => slug)]);
  return { library, list, data, config, own, known, usable };
}
