import type { KnownModel } from '../../catalog/built-in.ts';
import { mergeRefreshed } from '../../catalog/merge-refreshed.ts';
import { MODELS_DEV_URL, slugsOfList } from '../../catalog/models-dev.ts';
import { readProviderData } from '../../catalog/read-data.ts';
import { createRefreshFile } from '../../catalog/refresh-file.ts';
import { refreshCatalog, RefreshError } from '../../catalog/refresh.ts';
import type { RefreshedCatalog } from '../../catalog/refreshed.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Download } from '../../lib/net/download.ts';
import type { LiveCatalog } from './live-catalog.ts';

/** Between two looks at the file, which the command writes as well, and at its age. */
const LOOK_MS = 60_000;
/** After a refresh that failed. */
const RETRY_MS = 15 * 60_000;
/** Random share of the time between two refreshes, so that gateways that started together do not refresh together. */
const JITTER_SHARE = 0.2;

export interface CatalogRefresher {
  /** Loads the list from disk, without any call. */
  load(): Promise<void>;
  /** Keeps the list fresh from now on, in the background. */
  start(): void;
  stop(): void;
}

export interface RefresherDeps {
  /** Absent: the usual list. */
  readonly url?: string;
  readonly everyMs: number;
  readonly overridePrices: boolean;
  /** Whether this process fetches the list; otherwise it only reads what another one fetched. */
  readonly fetches: boolean;
  /** Where the last list is kept. */
  readonly dataDir: string;
  /** What the project's own files know. */
  readonly known: readonly KnownModel[];
  readonly live: Pick<LiveCatalog, 'learned'>;
  readonly download: Download;
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/** Keeps the public list of models fresh. Whatever fails, the last list stays. @spec catalog-20 */
export function createCatalogRefresher(deps: RefresherDeps): CatalogRefresher {
  const { url = MODELS_DEV_URL, everyMs, known, live, clock, log } = deps;
  const file = createRefreshFile(deps.dataDir);
  const slugs = slugsOfList(readProviderData());
  const stopped = new AbortController();
  const jitteredMs = everyMs * (1 + JITTER_SHARE * deps.random());
  let version: string | undefined;
  let fetchedMs = -Infinity;
  let notBeforeMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  function take(list: RefreshedCatalog): void {
    fetchedMs = Date.parse(list.fetched);
    live.learned(mergeRefreshed(known, list, deps));
  }

  async function load(): Promise<void> {
    const now = await file.version();
    if (now === version) return;
    version = now;
    const list = await file.read();
    if (list !== undefined) take(list);
  }

  async function refresh(): Promise<void> {
    const { download } = deps;
    try {
      const list = await refreshCatalog({ url, download, file, slugs, nowMs: clock.nowMs(), signal: stopped.signal });
      version = await file.version();
      take(list);
      log.info({ url, endpoints: list.endpoints.length, refusedPrices: list.refused.length }, 'catalog refreshed');
    } catch (error) {
      notBeforeMs = clock.monotonicMs() + RETRY_MS;
      if (stopped.signal.aborted) return;
      const reason = error instanceof RefreshError ? { reason: error.message } : { err: error };
      log.warn(reason, 'the catalog could not be refreshed and stays as it was');
    }
  }

  async function look(): Promise<void> {
    await load();
    if (!deps.fetches) return;
    // A clock that was set back must not keep an old list for ever.
    const isFresh = Math.abs(clock.nowMs() - fetchedMs) < jitteredMs;
    if (!isFresh && clock.monotonicMs() >= notBeforeMs && !stopped.signal.aborted) await refresh();
  }

  function again(): void {
    void look().finally(() => {
      if (stopped.signal.aborted) return;
      timer = setTimeout(again, LOOK_MS);
      timer.unref();
    });
  }

  return {
    load,
    start: again,
    stop() {
      stopped.abort();
      clearTimeout(timer);
    },
  };
}
