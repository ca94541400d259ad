/** Boundaries of histograms that the conventions advise. @source opentelemetry.io "Semantic conventions for generative AI metrics", read 2026-11 */
export const TOKEN_BOUNDS: readonly number[] = [
  1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
];
/** Of durations of operations, and of the time to their first chunk. */
export const SECOND_BOUNDS: readonly number[] = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
export const FIRST_TOKEN_BOUNDS: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
export const OUTPUT_TOKEN_BOUNDS: readonly number[] = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5,
];

/** A value counts for the first bound that it does not exceed. */
export function bucketOf(value: number, bounds: readonly number[]): number {
  const at = bounds.findIndex((bound) => value <= bound);
  return at < 0 ? bounds.length : at;
}
