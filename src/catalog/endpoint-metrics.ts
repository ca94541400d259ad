import type { Endpoint } from './model.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

/** How an endpoint does, from real traffic. Null: too little of it. @spec catalog-12 */
export interface EndpointFigures {
  /** Percent. */
  readonly uptimeLast5m: number | null;
  readonly uptimeLast30m: number | null;
  readonly uptimeLast1d: number | null;
  /** Answers and failures that count; of the time since the start, where that is less. */
  readonly requestsLast1d: number;
  /** Ms to the first token. */
  readonly latencyLast30m: Percentiles | null;
  /** Tokens a second. */
  readonly throughputLast30m: Percentiles | null;
}

export type FiguresOf = (endpoint: Endpoint) => EndpointFigures;
