import type { KnownModel } from '../../catalog/built-in.ts';
import type { CatalogRefresher, RefresherDeps } from './catalog-refresher.ts';
import type { Config } from '../../config/config.ts';
import type { LiveCatalog } from './live-catalog.ts';

/**
 * `undefined` where the operator did not turn it on, and then none of its code is loaded. What was fetched before is there
 * from the first request on; nothing is fetched yet.
 */
export async function openCatalogRefresher(
  shared: Pick<RefresherDeps, 'clock' | 'download' | 'random' | 'fetches'> & {
    readonly config: Pick<Config, 'catalog' | 'dataDir'>;
    readonly log: { readonly general: RefresherDeps['log'] };
  },
  live: Pick<LiveCatalog, 'learned'>,
  known: readonly KnownModel[],
): Promise<CatalogRefresher | undefined> {
  const { config, clock, download, random, fetches, log } = shared;
  if (!config.catalog.refresh.enabled) return undefined;
  const { createCatalogRefresher } = await import('./catalog-refresher.ts');
  const { dataDir } = config;
  const options = {
    ...config.catalog.refresh,
    dataDir,
    known,
    live,
    clock,
    download,
    random,
    fetches,
    log: log.general,
  };
  const refresher = createCatalogRefresher(options);
  await refresher.load();
  return refresher;
}
