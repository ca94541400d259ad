/** Numbers from 0 up to, not including, 1. */
export type RandomSource = () => number;

/**
 * A repeatable source of chance: the same seed gives the same numbers on any machine.
 * @source sfc32 of PractRand, by Chris Doty-Humphrey: 128 bits of state, and a period of at least 2^32
 */
export function createRandom(seed: number): RandomSource {
  let [a, b, c, counter] = [0, seed | 0, Math.floor(seed / 2 ** 32) | 0, 1];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first numbers of seeds that are near each other are alike.
  for (let round = 0; round < 15; round++) next();
  return next;
}

/** The items in an order of chance; the list itself stays as it is. */
export function shuffle<Item>(items: readonly Item[], random: RandomSource): readonly Item[] {
  const shuffled = [...items];
  for (let end = shuffled.length - 1; end > 0; end--) {
    const at = Math.floor(random() * (end + 1));
    const [left, right] = [shuffled[end], shuffled[at]];
    if (left !== undefined && right !== undefined) [shuffled[end], shuffled[at]] = [right, left];
  }
  return shuffled;
}
