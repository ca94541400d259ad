import { ExpiringMap } from '../../lib/expiring-map.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeptTexts } from './contract.ts';
import { TEXT_CHARS_MAX, TEXT_LIFE_MS_MAX } from './text-bounds.ts';

/** No entry is so small that counting bytes alone would not do; this keeps the map itself within reason. */
const ENTRIES_MAX = 100_000;
const BYTES_PER_CHAR = 2;

interface Kept {
  readonly text: string;
  /** Monotonic ms. */
  readonly untilMs: number;
}

export function createMemoryTexts({
  clock,
  bytesMax,
}: {
  readonly clock: Clock;
  readonly bytesMax: number;
}): KeptTexts {
  const nowMs = (): number => clock.monotonicMs();
  const map = new ExpiringMap<Kept>({ entriesMax: ENTRIES_MAX, bytesMax, lifetimeMs: TEXT_LIFE_MS_MAX }, nowMs);
  return {
    get(name) {
      const kept = map.get(name);
      if (kept === undefined || kept.untilMs > nowMs()) return Promise.resolve(kept?.text);
      map.delete(name);
      return Promise.resolve(undefined);
    },
    set(name, text, lifeMs) {
      if (text.length > TEXT_CHARS_MAX) map.delete(name);
      else map.set(name, { text, untilMs: nowMs() + lifeMs }, text.length * BYTES_PER_CHAR);
    },
    delete(name) {
      map.delete(name);
    },
  };
}
