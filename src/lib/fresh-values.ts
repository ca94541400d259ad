import { setBounded } from './bounded-map.ts';
import { withinTime } from './time-limit.ts';

/** Values that are read elsewhere, kept for a moment by name. */
export interface FreshValues<Value> {
  /** At once when it is fresh, else a promise. @throws what reading throws, when there is no value to make do with */
  get(name: string): Value | Promise<Value>;
  /** Something changed: whatever is asked from now on is read again. */
  forget(): void;
}

export interface FreshValuesParts<Value> {
  readonly read: (name: string) => Promise<Value>;
  /** Monotonic ms. */
  readonly nowMs: () => number;
  /** A change elsewhere counts after this. In its second half a value in use is read again while it still serves. */
  readonly freshMs: number;
  /** So long a value goes on serving while nothing can be read. */
  readonly staleMsMax: number;
  readonly readMsMax: number;
  readonly entriesMax: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly readAtMs: number;
  /** Put off while nothing can be read. */
  freshUntilMs: number;
}

/** Concurrent askers share one read; what was read before a change is not kept after it. */
export function createFreshValues<Value>(parts: FreshValuesParts<Value>): FreshValues<Value> {
  const { nowMs, freshMs, staleMsMax, entriesMax } = parts;
  let entries = new Map<string, Entry<Value>>();
  let reads = new Map<string, Promise<Value>>();

  async function read(name: string): Promise<Value> {
    const known = entries;
    try {
      const value = await withinTime(parts.read(name), parts.readMsMax);
      const readAtMs = nowMs();
      setBounded(known, name, { value, readAtMs, freshUntilMs: readAtMs + freshMs }, entriesMax);
      return value;
    } catch (error) {
      const entry = known.get(name);
      if (entry === undefined || nowMs() - entry.readAtMs > staleMsMax) throw error;
      entry.freshUntilMs = nowMs() + freshMs;
      return entry.value;
    }
  }

  function readOnce(name: string): Promise<Value> {
    const running = reads.get(name);
    if (running !== undefined) return running;
    const here = reads;
    const promise = read(name).finally(() => here.delete(name));
    here.set(name, promise);
    return promise;
  }

  return {
    get(name) {
      const now = nowMs();
      const entry = entries.get(name);
      if (entry === undefined || now >= entry.freshUntilMs) return readOnce(name);
      // A failure is not lost: whoever asks after the value's time reads again and is told.
      if (now >= entry.freshUntilMs - freshMs / 2) readOnce(name).catch(() => undefined);
      return entry.value;
    },
    forget() {
      // Reads under way keep the old maps to themselves.
      entries = new Map();
      reads = new Map();
    },
  };
}
