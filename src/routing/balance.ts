/**
 * Samples all items of a list, one after the other, each with a probability in proportion to its weight: the first
 * serves, the rest are its fallbacks. The remainder of the number after a sample is as random as before, so one number
 * suffices for all; with 0 the order stays.
 * @param weights positive, one an item; the array is used up
 * @param random from 0 up to, not including, 1
 */
export function sampleByWeight<Item>(items: readonly Item[], weights: Float64Array, random: number): Item[] {
  const sampled: Item[] = [];
  let chance = random;
  for (let left = items.length; left > 0; left--) {
    // Summed anew each time: what subtraction would leave of a large weight could outweigh a small one.
    let total = 0;
    for (const weight of weights) total += weight;
    const target = chance * total;
    let below = 0;
    let at = -1;
    let weight = 0;
    for (let index = 0; index < weights.length; index++) {
      const next = weights[index] ?? 0;
      if (next === 0) continue;
      if (at >= 0) below += weight;
      at = index;
      weight = next;
      if (below + next > target) break;
    }
    const item = items[at];
    if (item === undefined) break;
    // Rounding may lead a hair's breadth out of the interval.
    chance = Math.min(Math.max(0, (target - below) / weight), 1 - Number.EPSILON);
    weights[at] = 0;
    sampled.push(item);
  }
  return sampled;
}
