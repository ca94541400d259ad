import { ExpiringCache } from '../../lib/cache/expiring-cache.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TextCache } from '../contract.ts';
import { TEXT_CHARS_MAX, TEXT_LIFE_MS_MAX } from '../text-bounds.ts';

/** The bound on bytes limits texts; this one keeps the map itself within reason. */
const ENTRIES_MAX = 100_000;
const BYTES_PER_CHAR = 2;

export function createMemoryTexts({
  clock,
  bytesMax,
}: {
  readonly clock: Clock;
  readonly bytesMax: number;
}): TextCache {
  const limits = { entriesMax: ENTRIES_MAX, bytesMax, lifetimeMs: TEXT_LIFE_MS_MAX };
  const texts = new ExpiringCache<string>(limits, () => clock.monotonicMs());
  return {
    get: (name) => Promise.resolve(texts.get(name)),
    set(name, text, lifeMs) {
      if (text.length > TEXT_CHARS_MAX) texts.delete(name);
      else texts.set(name, text, text.length * BYTES_PER_CHAR, lifeMs);
    },
    delete(name) {
      texts.delete(name);
    },
  };
}
