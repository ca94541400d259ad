/** Quantiles of one measurement, in the unit of its samples. All are 0 when nothing was sampled. */
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export const NO_QUANTILES: Quantiles = { count: 0, p50: 0, p99: 0, p999: 0, max: 0 };

/** A bounded list of numbers that allocates nothing while it is filled; what does not fit any more is dropped. */
export class Samples {
  readonly #values: Float64Array;
  #count = 0;

  constructor(capacity: number) {
    this.#values = new Float64Array(capacity);
  }

  add(value: number): void {
    if (this.#count < this.#values.length) this.#values[this.#count++] = value;
  }

  quantiles(): Quantiles {
    if (this.#count === 0) return NO_QUANTILES;
    const sorted = this.#values.subarray(0, this.#count).toSorted();
    const at = (share: number): number => sorted[Math.min(this.#count - 1, Math.floor(share * this.#count))] ?? 0;
    return { count: this.#count, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) };
  }
}

/** The middle value; the mean of the two middle ones of an even count; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/** The slope of the straight line with the least squares; 0 where all points lie above each other. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let covariance = 0;
  let variance = 0;
  for (const [x, y] of points) {
    covariance += (x - meanX) * (y - meanY);
    variance += (x - meanX) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}
