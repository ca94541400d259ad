import { LRUCache } from 'lru-cache';

export interface ExpiringCacheLimits {
  readonly entriesMax: number;
  /** Keys and values together; the owner states the size of each value. */
  readonly bytesMax: number;
  /** An entry expires when it was not used for this time, or at the end of its own life if that is sooner. */
  readonly lifetimeMs: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly hasOwnLife: boolean;
  untilMs: number;
}

/** Added to key and value: the entry itself and its place in the cache. Measured with 100,000 entries. */
const ENTRY_BYTES = 170;

/**
 * A cache that drops the least recently used entries beyond its bounds, and entries that have expired. All work is done
 * when the cache is used, without a timer. The library's own expiry would keep expired entries in memory until newer ones
 * push them out, or visit every entry (`purgeStale`: 0.2 s for 100,000).
 */
export class ExpiringCache<Value> {
  readonly #lifetimeMs: number;
  readonly #nowMs: () => number;
  readonly #entriesMax: number;
  readonly #entries: LRUCache<string, Entry<Value>>;

  /** @param nowMs monotonic */
  constructor({ entriesMax, bytesMax, lifetimeMs }: ExpiringCacheLimits, nowMs: () => number) {
    this.#lifetimeMs = lifetimeMs;
    this.#nowMs = nowMs;
    this.#entriesMax = entriesMax;
    // Without the library's `max`, which allocates room for all entries at once.
    this.#entries = new LRUCache({ maxSize: Math.max(1, bytesMax) });
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /** Extends the life of the entry, unless it has a life of its own. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const nowMs = this.#nowMs();
    if (entry.untilMs <= nowMs) {
      this.#entries.delete(key);
      return undefined;
    }
    if (!entry.hasOwnLife) entry.untilMs = nowMs + this.#lifetimeMs;
    return entry.value;
  }

  /** Does not count as use. */
  peek(key: string): Value | undefined {
    const entry = this.#entries.peek(key);
    return entry === undefined || entry.untilMs <= this.#nowMs() ? undefined : entry.value;
  }

  /**
   * @param valueBytes the approximate size of the value
   * @param lifeMs the entry expires after this time, used or not
   */
  set(key: string, value: Value, valueBytes: number, lifeMs?: number): void {
    const nowMs = this.#nowMs();
    const size = ENTRY_BYTES + key.length + valueBytes;
    const untilMs = nowMs + Math.min(lifeMs ?? Infinity, this.#lifetimeMs);
    this.#entries.set(key, { value, hasOwnLife: lifeMs !== undefined, untilMs }, { size });
    while (this.#entries.size > this.#entriesMax) this.#entries.pop();
    this.#dropExpired(nowMs);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** The least recently used entries expire first, except those with a life of their own: these wait for their turn. */
  #dropExpired(nowMs: number): void {
    for (const key of this.#entries.rkeys()) {
      const entry = this.#entries.peek(key);
      if (entry !== undefined && entry.untilMs > nowMs) return;
      this.#entries.delete(key);
    }
  }
}
