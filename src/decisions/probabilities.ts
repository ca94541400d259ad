/** No option is certain, and none is ruled out: logarithms stay finite. */
const LEAST = 1e-6;
/** Six decimals are written. */
const MILLION = 1_000_000;

/** Weights as probabilities; `undefined`: they have no sum. */
export function normalize(weights: readonly number[]): readonly number[] | undefined {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!(sum > 0) || !Number.isFinite(sum)) return undefined;
  return weights.map((weight) => weight / sum);
}

/**
 * The normalized geometric mean. A bias that multiplies the weight of a label or of a position cancels where every option
 * stood there once.
 */
export function aggregate(distributions: readonly (readonly number[])[]): readonly number[] | undefined {
  const [first] = distributions;
  if (first === undefined) return undefined;
  const logs = first.map(
    (_, option) =>
      distributions.reduce((sum, each) => sum + Math.log(Math.max(each[option] ?? 0, LEAST)), 0) / distributions.length,
  );
  const highest = Math.max(...logs);
  return normalize(logs.map((log) => Math.exp(log - highest)));
}

/** Half the sum of the differences: 0 for equal distributions, 1 for those that share nothing. */
export function totalVariation(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, probability, option) => sum + Math.abs(probability - (other[option] ?? 0)), 0) / 2;
}

/** Whole millionths whose sum is exactly one million: what rounding down leaves goes to the largest remainders, first ones first. */
export function toMillionths(distribution: readonly number[]): readonly number[] {
  const kept = normalize(distribution.map((probability) => Math.max(probability, LEAST))) ?? [];
  const exact = kept.map((probability) => probability * MILLION);
  const whole = exact.map((value) => Math.floor(value));
  const left = MILLION - whole.reduce((sum, value) => sum + value, 0);
  const byRemainder = exact
    .map((value, option) => ({ option, remainder: value - Math.floor(value) }))
    .toSorted((a, b) => b.remainder - a.remainder || a.option - b.option);
  for (const { option } of byRemainder.slice(0, left)) whole[option] = (whole[option] ?? 0) + 1;
  return whole;
}

/** 0 where all options are alike, 1 where one is certain. */
export function confidenceOf(millionths: readonly number[]): number {
  const even = 1 / millionths.length;
  const highest = Math.max(...millionths) / MILLION;
  return Math.min(1, Math.max(0, (highest - even) / (1 - even)));
}
