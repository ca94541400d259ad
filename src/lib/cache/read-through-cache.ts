import { createLruCache } from './lru-cache.ts';
import { withTimeout } from '../async/with-timeout.ts';

/** Values that are read elsewhere, such as from the database, and cached for a moment by name. */
export interface ReadThroughCache<Value> {
  /** The value itself while it is fresh, else a promise. @throws what reading throws, unless a stale value may serve */
  get(name: string): Value | Promise<Value>;
  /** Drops a value that has changed, and ignores the reads of it under way. @param name absent: all values */
  invalidate(name?: string): void;
  /** Reads every value again before it serves; a stale one serves only where reading fails. */
  markStale(): void;
}

export interface ReadThroughCacheOptions<Value> {
  readonly read: (name: string) => Promise<Value>;
  /** Monotonic ms. */
  readonly nowMs: () => number;
  /** A change elsewhere counts after this. A value that is used in the second half of this time is read ahead. */
  readonly freshMs: number;
  /** A stale value serves for this time at most while reading fails. */
  readonly staleMsMax: number;
  readonly readMsMax: number;
  readonly entriesMax: number;
  /**
   * Bounds of a separate cache for names whose value is `undefined`: however many of them are looked up, they evict no
   * value. They neither serve stale nor are read ahead. Absent: they are cached with the others.
   */
  readonly negative?: { readonly freshMs: number; readonly entriesMax: number };
}

interface Entry<Value> {
  readonly value: Value;
  readonly readAtMs: number;
  /** Extended while reading fails. */
  freshUntilMs: number;
}

/** Reads under way. Beyond them stale values serve, and a name without one fails. */
const READS_MAX = 4_096;

/**
 * Concurrent requests share one read; what was read before an invalidation is not cached after it. The library's `fetch` is
 * not used: its reads take places among the entries, without a bound of their own, and it does not cache `undefined`.
 */
export function createReadThroughCache<Value>(options: ReadThroughCacheOptions<Value>): ReadThroughCache<Value> {
  const { nowMs, freshMs, staleMsMax, negative } = options;
  const entries = createLruCache<string, Entry<Value>>(options.entriesMax);
  const negatives = createLruCache<string, Entry<Value>>(negative?.entriesMax ?? 1);
  const reads = new Map<string, Promise<Value>>();

  function store(name: string, value: Value): void {
    const readAtMs = nowMs();
    entries.delete(name);
    negatives.delete(name);
    if (value === undefined && negative !== undefined)
      negatives.set(name, { value, readAtMs, freshUntilMs: readAtMs + negative.freshMs });
    else entries.set(name, { value, readAtMs, freshUntilMs: readAtMs + freshMs });
  }

  function staleOr(name: string, error: unknown): Entry<Value> {
    const entry = entries.get(name);
    if (entry === undefined || nowMs() - entry.readAtMs > staleMsMax) throw error;
    return entry;
  }

  async function read(name: string, isCurrent: () => boolean): Promise<Value> {
    try {
      const value = await withTimeout(options.read(name), options.readMsMax);
      if (isCurrent()) store(name, value);
      return value;
    } catch (error) {
      const entry = staleOr(name, error);
      entry.freshUntilMs = nowMs() + freshMs;
      return entry.value;
    }
  }

  async function readOnce(name: string): Promise<Value> {
    const running = reads.get(name);
    if (running !== undefined) return running;
    // The stale value is not extended here: it is read as soon as there is room.
    if (reads.size >= READS_MAX) return staleOr(name, new Error(`${READS_MAX} values are being read already.`)).value;
    const isCurrent = (): boolean => reads.get(name) === promise;
    const promise = read(name, isCurrent).finally(() => {
      if (isCurrent()) reads.delete(name);
    });
    reads.set(name, promise);
    return promise;
  }

  return {
    get(name) {
      const now = nowMs();
      const entry = entries.get(name);
      if (entry !== undefined && now < entry.freshUntilMs) {
        // A failure is not lost: the first read after the fresh time fails again, and the caller sees that.
        if (now >= entry.freshUntilMs - freshMs / 2) readOnce(name).catch(() => undefined);
        return entry.value;
      }
      const absent = negatives.get(name);
      return absent !== undefined && now < absent.freshUntilMs ? absent.value : readOnce(name);
    },
    invalidate(name) {
      // A read under way that is dropped here does not store its value.
      for (const map of [entries, negatives, reads])
        if (name === undefined) map.clear();
        else map.delete(name);
    },
    markStale() {
      for (const entry of entries.values()) entry.freshUntilMs = -Infinity;
      negatives.clear();
      reads.clear();
    },
  };
}
