import type { LoopTurns } from '../../lib/async/loop-turns.ts';
import type { RandomSource } from './random.ts';

/** A 95 % confidence interval, within the scores that there can be. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Of the standard normal distribution, two-sided, at 95 %. */
const Z = 1.959964;
const RESAMPLES = 2_000;
const TAIL = 0.025;
/** Steps in one turn of the event loop: about a millisecond. */
export const STEPS_AT_ONCE = 100_000;

/**
 * The interval of a share of successes. Unlike one from the standard error it keeps its promise for few trials, and for
 * shares of 0 and 1.
 * @param total at least 1
 * @source E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927
 */
export function wilsonInterval(successes: number, total: number): Interval {
  const share = successes / total;
  const scale = 1 + Z ** 2 / total;
  const centre = (share + Z ** 2 / (2 * total)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / total + Z ** 2 / (4 * total ** 2));
  // What rounding leaves of a bound that is exactly 0 or 1.
  return {
    low: successes === 0 ? 0 : Math.max(0, centre - half),
    high: successes === total ? 1 : Math.min(1, centre + half),
  };
}

/** What the items of one group add up to: groups are taken as a whole, since their items are not independent. */
export interface GroupSum {
  /** Of weight times value. */
  readonly sum: number;
  readonly weight: number;
}

/**
 * The percentile bootstrap of a weighted mean over groups. `undefined`: one group says nothing about others.
 * @source B. Efron, "Bootstrap methods: another look at the jackknife", 1979; groups as in C. A. Field and A. H. Welsh,
 * "Bootstrapping clustered data", 2007
 */
export async function bootstrapInterval(
  groups: readonly GroupSum[],
  random: RandomSource,
  turns: LoopTurns,
): Promise<Interval | undefined> {
  if (groups.length < 2) return undefined;
  const means = new Float64Array(RESAMPLES);
  const atOnce = Math.ceil(STEPS_AT_ONCE / groups.length);
  for (let sample = 0; sample < RESAMPLES; sample++) {
    if (sample % atOnce === 0) await turns.next();
    means[sample] = resampledMean(groups, random);
  }
  means.sort();
  return { low: quantileOf(means, TAIL), high: quantileOf(means, 1 - TAIL) };
}

function resampledMean(groups: readonly GroupSum[], random: RandomSource): number {
  let [sum, weight] = [0, 0];
  for (let place = 0; place < groups.length; place++) {
    const group = groups[Math.floor(random() * groups.length)];
    sum += group?.sum ?? 0;
    weight += group?.weight ?? 0;
  }
  return weight === 0 ? 0 : sum / weight;
}

/**
 * The quantile of sorted values, on the line between the two nearest.
 * @param share from 0 to 1
 */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
