import { createLruCache } from '../lib/cache/lru-cache.ts';
import type { Clock } from '../lib/clock.ts';
import {
  addSample,
  count,
  createRollingCounts,
  createRollingHistogram,
  percentilesOf,
  roll,
  sumOfNewest,
  type Percentiles,
  type RollingCounts,
  type RollingHistogram,
} from './rolling.ts';

/** The metrics of an endpoint in lists. @spec catalog-12 */
export interface ListedMetrics {
  /** Percent; `null` with too little data. Rate limits and faults of requests count neither way. */
  readonly uptimeLast5m: number | null;
  readonly uptimeLast30m: number | null;
  readonly uptimeLast1d: number | null;
  readonly requestsLast1d: number;
  /** Ms to the first token, and tokens per second. */
  readonly latencyLast30m: Percentiles | null;
  readonly throughputLast30m: Percentiles | null;
}

/** Metrics for routing, over the last 5 minutes. @spec route-16 */
export interface RoutingMetrics {
  /** Seconds to the first token. */
  latency(): Percentiles | undefined;
  /** Tokens a second. */
  throughput(): Percentiles | undefined;
  quality(): QualityMetrics;
}

/** @spec route-22 */
export interface QualityMetrics {
  /** Requests of the last 30 minutes. */
  readonly requests: number;
  /** Of the last 2 hours, with tools, that ended in calls. */
  readonly toolRequests: number;
  readonly toolFailures: number;
}

/** One completed response. */
export interface FinishedAnswer {
  /** From the start of the attempt. */
  readonly firstTokenMs: number;
  readonly totalMs: number;
  readonly outputTokens: number;
  /** Whether its calls were right; absent: nothing was called. */
  readonly toolCalls?: 'valid' | 'broken';
}

/** Metrics of endpoints, by `endpointName`. Bounded, in memory, without a timer. */
export interface EndpointStats {
  counted(endpoint: string, isOk: boolean): void;
  finished(endpoint: string, answer: FinishedAnswer): void;
  /** How long its answers of the last 30 minutes were, the middle one, in tokens. `undefined`: too few came. */
  typicalTokens(endpoint: string): number | undefined;
  listed(endpoint: string): ListedMetrics;
  routing(endpoint: string): RoutingMetrics | undefined;
}

/** Some 25 kB each when every figure is kept. */
const ENDPOINTS_MAX = 2_000;
const MINUTE_MS = 60_000;
const SHORT_BUCKET_MS = 30_000;
const SHORT_BUCKETS = 10;
const LONG_BUCKET_MS = 5 * MINUTE_MS;
const LONG_BUCKETS = 6;
const DAY_BUCKETS = 288;
const TOOLS_BUCKET_MS = 10 * MINUTE_MS;
const TOOLS_BUCKETS = 12;
/** Fewer requests say nothing of uptime. */
const UPTIME_REQUESTS_MIN = 5;
const LATENCY_MS_LEAST = 1;
const THROUGHPUT_LEAST = 0.1;
const MS_PER_TOKEN_LEAST = 0.02;
const TOKENS_LEAST = 1;
/** An answer of fewer tokens comes in one piece, and its speed is chance. */
const THROUGHPUT_TOKENS_MIN = 8;

interface Timings {
  readonly latency: RollingHistogram;
  /** Tokens a second where they are listed, ms a token where they are routed by. */
  readonly speed: RollingHistogram;
}

interface State {
  readonly minutes: RollingCounts;
  readonly day: RollingCounts;
  readonly tools: RollingCounts;
  short: Timings | undefined;
  long: Timings | undefined;
  lengths: RollingHistogram | undefined;
}

export function createEndpointStats({ clock }: { readonly clock: Clock }): EndpointStats {
  const states = createLruCache<string, State>(ENDPOINTS_MAX);

  function stateOf(endpoint: string): State {
    const known = states.get(endpoint);
    if (known !== undefined) return known;
    const state: State = {
      minutes: createRollingCounts(SHORT_BUCKET_MS, SHORT_BUCKETS),
      day: createRollingCounts(LONG_BUCKET_MS, DAY_BUCKETS),
      tools: createRollingCounts(TOOLS_BUCKET_MS, TOOLS_BUCKETS),
      short: undefined,
      long: undefined,
      lengths: undefined,
    };
    states.set(endpoint, state);
    return state;
  }

  return {
    counted(endpoint, isOk) {
      const state = stateOf(endpoint);
      const nowMs = clock.monotonicMs();
      count(state.minutes, isOk, nowMs);
      count(state.day, isOk, nowMs);
    },
    finished(endpoint, answer) {
      const state = stateOf(endpoint);
      const nowMs = clock.monotonicMs();
      state.short ??= createTimings(SHORT_BUCKET_MS, SHORT_BUCKETS, MS_PER_TOKEN_LEAST);
      state.long ??= createTimings(LONG_BUCKET_MS, LONG_BUCKETS, THROUGHPUT_LEAST);
      // @spec catalog-12: output tokens over all of the time
      const perS = answer.outputTokens / Math.max(0.001, answer.totalMs / 1_000);
      addSample(state.short.latency, answer.firstTokenMs, nowMs);
      addSample(state.long.latency, answer.firstTokenMs, nowMs);
      if (answer.outputTokens >= THROUGHPUT_TOKENS_MIN) {
        addSample(state.short.speed, 1_000 / perS, nowMs);
        addSample(state.long.speed, perS, nowMs);
      }
      state.lengths ??= createRollingHistogram(LONG_BUCKET_MS, LONG_BUCKETS, TOKENS_LEAST);
      addSample(state.lengths, answer.outputTokens, nowMs);
      if (answer.toolCalls !== undefined) count(state.tools, answer.toolCalls === 'valid', nowMs);
    },
    typicalTokens(endpoint) {
      const lengths = states.peek(endpoint)?.lengths;
      const length = lengths && percentilesOf(lengths, clock.monotonicMs())?.p50;
      return length === undefined ? undefined : Math.round(length);
    },
    listed(endpoint) {
      const state = states.peek(endpoint);
      return state === undefined ? NO_METRICS : listed(state, clock.monotonicMs());
    },
    routing(endpoint) {
      const state = states.peek(endpoint);
      return state && routingMetrics(state, clock.monotonicMs());
    },
  };
}

const NO_METRICS: ListedMetrics = {
  uptimeLast5m: null,
  uptimeLast30m: null,
  uptimeLast1d: null,
  requestsLast1d: 0,
  latencyLast30m: null,
  throughputLast30m: null,
};

function createTimings(bucketMs: number, buckets: number, speedLeast: number): Timings {
  return {
    latency: createRollingHistogram(bucketMs, buckets, LATENCY_MS_LEAST),
    speed: createRollingHistogram(bucketMs, buckets, speedLeast),
  };
}

function listed({ minutes, day, long }: State, nowMs: number): ListedMetrics {
  roll(minutes, nowMs);
  roll(day, nowMs);
  return {
    uptimeLast5m: uptimeOf(minutes.okSum, minutes.failedSum),
    uptimeLast30m: uptimeOfNewest(day, LONG_BUCKETS),
    uptimeLast1d: uptimeOf(day.okSum, day.failedSum),
    requestsLast1d: day.okSum + day.failedSum,
    latencyLast30m: (long && percentilesOf(long.latency, nowMs)) ?? null,
    throughputLast30m: (long && percentilesOf(long.speed, nowMs)) ?? null,
  };
}

function uptimeOfNewest(counts: RollingCounts, buckets: number): number | null {
  const { ok, failed } = sumOfNewest(counts, buckets);
  return uptimeOf(ok, failed);
}

function uptimeOf(ok: number, failed: number): number | null {
  return ok + failed < UPTIME_REQUESTS_MIN ? null : (100 * ok) / (ok + failed);
}

function routingMetrics({ short, day, tools }: State, nowMs: number): RoutingMetrics {
  return {
    latency: () => mapped(short && percentilesOf(short.latency, nowMs), (ms) => ms / 1_000),
    // Of speeds the slow ones are the tail: `p90` is what nine in ten answers reach.
    throughput: () => mapped(short && percentilesOf(short.speed, nowMs), (msPerToken) => 1_000 / msPerToken),
    quality() {
      roll(day, nowMs);
      roll(tools, nowMs);
      const { ok, failed } = sumOfNewest(day, LONG_BUCKETS);
      return { requests: ok + failed, toolRequests: tools.okSum + tools.failedSum, toolFailures: tools.failedSum };
    },
  };
}

function mapped(values: Percentiles | undefined, change: (value: number) => number): Percentiles | undefined {
  return (
    values && { p50: change(values.p50), p75: change(values.p75), p90: change(values.p90), p99: change(values.p99) }
  );
}
