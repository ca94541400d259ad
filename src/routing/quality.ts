import type { QualityMetrics } from './stats.ts';

/** The input of the quality order for one endpoint. */
export interface QualityEntry {
  readonly metrics: QualityMetrics | undefined;
  /** Median, tokens a second. Computed only with enough requests. */
  readonly throughput: () => number | undefined;
}

/** 0: good; 1: too little is known; 2: worse than its peers. */
export type QualityTier = 0 | 1 | 2;

/** @spec route-22 */
const REQUESTS_MIN = 100;
const TOOL_REQUESTS_MIN = 200;
const PEERS_MIN = 4;
const THROUGHPUT_DEVIATIONS = 1.5;
const TOOL_DEVIATIONS = 2;
/** Makes the median absolute deviation of normally distributed values their standard deviation. */
const SD_OF_MAD = 1.4826;

/**
 * Finds the tier of each endpoint of one model, compared with the others. A signal that fewer than four endpoints have is
 * not used. The third signal of the specification, a test score of each endpoint, does not exist: scores are of models.
 */
export function qualityTiers(entries: readonly QualityEntry[]): readonly QualityTier[] {
  const throughputs = entries.map(({ metrics, throughput }) =>
    metrics !== undefined && metrics.requests >= REQUESTS_MIN ? throughput() : undefined,
  );
  const successes = entries.map(({ metrics }) =>
    metrics !== undefined && metrics.toolRequests >= TOOL_REQUESTS_MIN
      ? 1 - metrics.toolFailures / metrics.toolRequests
      : undefined,
  );
  const slow = lowerBound(throughputs, THROUGHPUT_DEVIATIONS);
  const wrong = lowerBound(successes, TOOL_DEVIATIONS);
  return entries.map((_, at): QualityTier => {
    const throughput = throughputs[at];
    const success = successes[at];
    const isWorse =
      (throughput !== undefined && slow !== undefined && throughput < slow) ||
      (success !== undefined && wrong !== undefined && success < wrong);
    if (isWorse) return 2;
    return throughput !== undefined && success !== undefined ? 0 : 1;
  });
}

function lowerBound(values: readonly (number | undefined)[], deviations: number): number | undefined {
  const known = values.filter((value) => value !== undefined);
  if (known.length < PEERS_MIN) return undefined;
  const middle = median(known);
  const deviation = SD_OF_MAD * median(known.map((value) => Math.abs(value - middle)));
  return middle - deviations * deviation;
}

function median(values: readonly number[]): number {
  const sorted = new Float64Array(values).toSorted();
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? 0)) / 2;
}
