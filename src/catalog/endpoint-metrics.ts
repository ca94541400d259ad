import type { Endpoint } from './model.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

/** Metrics of an endpoint from its traffic. Null: too few samples. @spec catalog-12 */
export interface EndpointMetrics {
  /** Percent. */
  readonly uptimeLast5m: number | null;
  readonly uptimeLast30m: number | null;
  readonly uptimeLast1d: number | null;
  /** Responses and counted failures; since the start of the process, where that is less than a day ago. */
  readonly requestsLast1d: number;
  /** Ms to the first token. */
  readonly latencyLast30m: Percentiles | null;
  /** Tokens a second. */
  readonly throughputLast30m: Percentiles | null;
}

export type MetricsOf = (endpoint: Endpoint) => EndpointMetrics;
