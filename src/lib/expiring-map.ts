export interface ExpiringMapLimits {
  readonly entriesMax: number;
  /** Of keys and values together, by the owner's count of the values. */
  readonly bytesMax: number;
  /** An entry that nobody asked for in this time is forgotten. */
  readonly lifetimeMs: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
  readonly untilMs: number;
}

/** Beside key and value: the entry itself and its place in the map. */
const ENTRY_BYTES = 120;

/**
 * A map that forgets: what was not used for longest goes first, when there is too much or its time is over. Everything is
 * done when the map is used, so that it needs no timer.
 */
export class ExpiringMap<Value> {
  readonly #limits: ExpiringMapLimits;
  readonly #nowMs: () => number;
  /** In the order of the last use, which is the order of the ends as well: every use gives the same time. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;

  /** @param nowMs monotonic */
  constructor(limits: ExpiringMapLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#delete(key, entry);
    if (entry.untilMs <= this.#nowMs()) return undefined;
    this.#put(key, entry.value, entry.bytes);
    return entry.value;
  }

  /** Looks without using it: the entry lives no longer for that. */
  peek(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || entry.untilMs <= this.#nowMs() ? undefined : entry.value;
  }

  /** @param valueBytes what the value takes, about */
  set(key: string, value: Value, valueBytes: number): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#delete(key, before);
    const bytes = ENTRY_BYTES + key.length + valueBytes;
    if (bytes <= this.#limits.bytesMax) this.#put(key, value, bytes);
    this.#forget();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#delete(key, entry);
  }

  #put(key: string, value: Value, bytes: number): void {
    this.#entries.set(key, { value, bytes, untilMs: this.#nowMs() + this.#limits.lifetimeMs });
    this.#bytes += bytes;
  }

  #forget(): void {
    const nowMs = this.#nowMs();
    const { entriesMax, bytesMax } = this.#limits;
    for (const [key, entry] of this.#entries) {
      const isOver = this.#entries.size > entriesMax || this.#bytes > bytesMax || entry.untilMs <= nowMs;
      if (!isOver) return;
      this.#delete(key, entry);
    }
  }

  #delete(key: string, { bytes }: Entry<Value>): void {
    this.#entries.delete(key);
    this.#bytes -= bytes;
  }
}
