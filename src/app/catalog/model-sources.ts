import type { Config } from '../../config/config.ts';
import type { ListingServices } from '../../http/management/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { figuresOf } from './catalog-figures.ts';
import { readLayers, type CatalogLayers } from './catalog-layers.ts';

/** Layers are files: read again for each call, they would hold up the event loop for as many ms as any key likes. */
const FRESH_MS = 60_000;

export function createModelSources({
  config,
  env,
  clock,
}: {
  /** In effect now. */
  readonly config: () => Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}): ListingServices['sourcesOf'] {
  let known: { readonly of: Config; readonly atMs: number; readonly layers: Promise<CatalogLayers> } | undefined;
  return async (slug) => {
    const [of, atMs] = [config(), clock.monotonicMs()];
    if (known?.of !== of || atMs - known.atMs >= FRESH_MS) {
      const layers = readLayers(of, env);
      known = { of, atMs, layers };
      // What could not be read is read again with the next call.
      layers.catch(() => (known = undefined));
    }
    return figuresOf(slug, await known.layers);
  };
}
