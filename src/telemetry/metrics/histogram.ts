import type { JsonObject } from '../../lib/json.ts';
import { attributesOf, nanoOf } from '../destinations/otlp/encode-json.ts';
import { bucketOf } from '../destinations/otlp/metric-bounds.ts';
import type { Attributes } from '../destinations/otlp/span.ts';

/** `AggregationTemporality` of opentelemetry-proto 1.9, metrics.proto, read 2026-11. */
const TEMPORALITY = { delta: 1, cumulative: 2 } as const;
/** Of one metric; what comes beyond is counted in a series without attributes. */
const SERIES_MAX = 2_000;

export interface HistogramOptions {
  readonly name: string;
  readonly unit: string;
  readonly bounds: readonly number[];
  readonly temporality: keyof typeof TEMPORALITY;
  readonly startMs: number;
}

interface Series {
  readonly attributes: Attributes;
  readonly buckets: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

/** Values of one metric by attributes. A class because every record changes it. */
export class Histogram {
  readonly #options: HistogramOptions;
  readonly #series = new Map<string, Series>();
  #startMs: number;

  constructor(options: HistogramOptions) {
    this.#options = options;
    this.#startMs = options.startMs;
  }

  add(value: number, attributes: Attributes): void {
    if (!Number.isFinite(value)) return;
    const series = this.#seriesOf(attributes);
    const bucket = bucketOf(value, this.#options.bounds);
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    series.count++;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
  }

  reset(nowMs: number): void {
    this.#series.clear();
    this.#startMs = nowMs;
  }

  /** @returns `undefined`: it has no value */
  encode(nowMs: number): JsonObject | undefined {
    const { name, unit, bounds, temporality } = this.#options;
    if (this.#series.size === 0) return undefined;
    const dataPoints = [...this.#series.values()].map(({ attributes, buckets, count, sum, min, max }) => ({
      attributes: attributesOf(attributes),
      startTimeUnixNano: nanoOf(this.#startMs),
      timeUnixNano: nanoOf(nowMs),
      count: String(count),
      sum,
      min,
      max,
      bucketCounts: buckets.map(String),
      explicitBounds: bounds,
    }));
    return { name, unit, histogram: { aggregationTemporality: TEMPORALITY[temporality], dataPoints } };
  }

  #seriesOf(attributes: Attributes): Series {
    const name = JSON.stringify(attributes);
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    if (this.#series.size >= SERIES_MAX && name !== NO_ATTRIBUTES) return this.#seriesOf({});
    const { bounds } = this.#options;
    const buckets = Array.from({ length: bounds.length + 1 }, () => 0);
    const series: Series = { attributes, buckets, count: 0, sum: 0, min: Infinity, max: -Infinity };
    this.#series.set(name, series);
    return series;
  }
}

const NO_ATTRIBUTES = '{}';
