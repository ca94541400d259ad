import { setBounded } from './bounded-map.ts';
import { withinTime } from './time-limit.ts';

/** Values that are read elsewhere, kept for a moment by name. */
export interface FreshValues<Value> {
  /** At once when it is fresh, else a promise. @throws what reading throws, when there is no value to make do with */
  get(name: string): Value | Promise<Value>;
  /** Something changed: whatever is asked from now on is read again. @param name absent: any of them */
  forget(name?: string): void;
  /** Something may have changed: everything is read again before it serves, unless nothing can be read. */
  outdate(): void;
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
  /**
   * Names whose value is `undefined` are kept apart, so that however many of them are asked for, they push out none that
   * has one; they neither serve stale nor are read ahead. Absent: they are kept with the others.
   */
  readonly nothing?: { readonly freshMs: number; readonly entriesMax: number };
}

interface Entry<Value> {
  readonly value: Value;
  readonly readAtMs: number;
  /** Put off while nothing can be read. */
  freshUntilMs: number;
}

/** Reads under way. Beyond them a value that was read before serves stale, and for other names asking fails. */
const READS_MAX = 4_096;

/** Concurrent askers share one read; what was read before a change is not kept after it. */
export function createFreshValues<Value>(parts: FreshValuesParts<Value>): FreshValues<Value> {
  const { nowMs, freshMs, staleMsMax, nothing } = parts;
  const entries = new Map<string, Entry<Value>>();
  const nothings = new Map<string, Entry<Value>>();
  const reads = new Map<string, Promise<Value>>();

  function keep(name: string, value: Value): void {
    const readAtMs = nowMs();
    entries.delete(name);
    nothings.delete(name);
    const [shelf, bounds] = value === undefined && nothing !== undefined ? [nothings, nothing] : [entries, parts];
    setBounded(shelf, name, { value, readAtMs, freshUntilMs: readAtMs + bounds.freshMs }, bounds.entriesMax);
  }

  function makeDo(name: string, error: unknown): Entry<Value> {
    const entry = entries.get(name);
    if (entry === undefined || nowMs() - entry.readAtMs > staleMsMax) throw error;
    return entry;
  }

  async function read(name: string, isCurrent: () => boolean): Promise<Value> {
    try {
      const value = await withinTime(parts.read(name), parts.readMsMax);
      if (isCurrent()) keep(name, value);
      return value;
    } catch (error) {
      const entry = makeDo(name, error);
      entry.freshUntilMs = nowMs() + freshMs;
      return entry.value;
    }
  }

  async function readOnce(name: string): Promise<Value> {
    const running = reads.get(name);
    if (running !== undefined) return running;
    // Nothing is put off: as soon as there is room the value is read again.
    if (reads.size >= READS_MAX) return makeDo(name, new Error(`${READS_MAX} values are being read already.`)).value;
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
        // A failure is not lost: whoever asks after the value's time reads again and is told.
        if (now >= entry.freshUntilMs - freshMs / 2) readOnce(name).catch(() => undefined);
        return entry.value;
      }
      const none = nothings.get(name);
      return none !== undefined && now < none.freshUntilMs ? none.value : readOnce(name);
    },
    forget(name) {
      // Reads under way are nobody's any more, and what they give is not kept.
      for (const map of [entries, nothings, reads])
        if (name === undefined) map.clear();
        else map.delete(name);
    },
    outdate() {
      for (const entry of entries.values()) entry.freshUntilMs = -Infinity;
      nothings.clear();
      reads.clear();
    },
  };
}
