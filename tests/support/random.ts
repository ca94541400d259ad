/** A repeatable source of chance: the same seed gives the same choices, on any machine. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** @source the mulberry32 generator: 32 bits of state, good enough to choose test inputs */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick(items) {
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return items[int(0, items.length - 1)] as (typeof items)[number];
    },
  };
}

/** The seed of one case among many, so that it can be run alone. */
export function seedOf(seed: number, index: number): number {
  return (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(index + 1, 0xc2b2ae35)) >>> 0;
}

/** The seed of a test run: always the same, so that the suite is; FUZZ_SEED names another, or `random` makes one up. */
export function readSeed(): number {
  const given = process.env['FUZZ_SEED'] ?? '1';
  return given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}
