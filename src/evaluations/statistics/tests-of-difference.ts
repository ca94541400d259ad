import type { LoopTurns } from '../../lib/async/loop-turns.ts';
import { STEPS_AT_ONCE } from './intervals.ts';
import type { RandomSource } from './random.ts';

const FLIPS = 10_000;
/** Differences that are equal on paper differ by what sums of doubles lose. */
const ROUNDING = 1e-12;

/**
 * The two-sided p-value of paired differences, one a group: how often a sum at least as far from 0 comes of the same
 * differences with signs of chance. The observed signs count as one of the trials, so that it is never 0.
 * @source R. A. Fisher, "The Design of Experiments", 1935, section 21; the added trial: B. Phipson and G. K. Smyth,
 * "Permutation p-values should never be zero", 2010
 */
export async function signFlipTest(
  differences: readonly number[],
  random: RandomSource,
  turns: LoopTurns,
): Promise<number> {
  const moving = differences.filter((difference) => difference !== 0);
  if (moving.length === 0) return 1;
  const observed = Math.abs(moving.reduce((sum, difference) => sum + difference, 0)) - ROUNDING;
  const atOnce = Math.ceil(STEPS_AT_ONCE / moving.length);
  let extreme = 0;
  for (let flip = 0; flip < FLIPS; flip++) {
    if (flip % atOnce === 0) await turns.next();
    if (Math.abs(flippedSum(moving, random)) >= observed) extreme++;
  }
  return (extreme + 1) / (FLIPS + 1);
}

/** Each number of chance has signs for so many differences. */
const SIGNS = 30;

function flippedSum(differences: readonly number[], random: RandomSource): number {
  let [sum, signs] = [0, 0];
  for (let at = 0; at < differences.length; at++) {
    if (at % SIGNS === 0) signs = Math.floor(random() * 2 ** SIGNS);
    const difference = differences[at] ?? 0;
    sum += (signs & 1) === 1 ? difference : -difference;
    signs >>= 1;
  }
  return sum;
}

/**
 * The exact two-sided p-value for pairs of which each side is right or wrong: only pairs count that differ.
 * @param gained pairs of which the second alone is right
 * @param lost pairs of which the first alone is right
 * @source Q. McNemar, "Note on the sampling error of the difference between correlated proportions", 1947; its exact form is
 * a binomial test at one half
 */
export function mcNemarTest(gained: number, lost: number): number {
  const pairs = gained + lost;
  let [tail, log] = [0, -pairs * Math.LN2];
  for (let count = 0; count <= Math.min(gained, lost); count++) {
    // Of the probability of so many heads in so many fair throws.
    if (count > 0) log += Math.log((pairs - count + 1) / count);
    tail += Math.exp(log);
  }
  return Math.min(1, 2 * tail);
}

/**
 * Corrects p-values for their number, each in its place: the smallest is held to the strictest bound, and none gets below
 * one that was smaller.
 * @source S. Holm, "A simple sequentially rejective multiple test procedure", 1979
 */
export function holmCorrection(values: readonly number[]): readonly number[] {
  const corrected = values.map(() => 1);
  let atLeast = 0;
  values
    .map((value, index) => ({ value, index }))
    .toSorted((left, right) => left.value - right.value)
    .forEach(({ value, index }, rank) => {
      atLeast = Math.min(1, Math.max(atLeast, value * (values.length - rank)));
      corrected[index] = atLeast;
    });
  return corrected;
}
