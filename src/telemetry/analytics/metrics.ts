import { usdFromNano } from '../../lib/money.ts';
import {
  FIRST_TOKEN_BOUNDS_MS,
  FIRST_TOKEN_CLASSES,
  THROUGHPUT_BOUNDS,
  THROUGHPUT_CLASSES,
  type ClassColumn,
  type ReportMeasure,
} from '../../store/usage/usage-measures.ts';
import { percentileOf } from './percentile.ts';

const MS_PER_SECOND = 1_000;

/** A sum of the generations that a row stands for. */
export type SumOf = (measure: ReportMeasure) => number;

/** A figure that analytics can compute. */
export interface Metric {
  readonly name: string;
  readonly label: string;
  readonly format: 'number' | 'currency' | 'percent' | 'latency' | 'throughput';
  /** It cannot be added up over rows. */
  readonly isRate: boolean;
  /** Of speeds: for at most a month. @spec analytics-4 */
  readonly isSpeed?: true;
  /** Only records have it, for at most a month. */
  readonly isOfRecords?: true;
  readonly measures: readonly ReportMeasure[];
  /** `null`: there is nothing to take a share or a percentile of. Money is USD, times ms, speeds tokens per second. */
  readonly valueOf: (sum: SumOf) => number | null;
}

function count(name: string, label: string, ...measures: readonly ReportMeasure[]): Metric {
  const valueOf = (sum: SumOf): number => measures.reduce((total, measure) => total + sum(measure), 0);
  return { name, label, format: 'number', isRate: false, measures, valueOf };
}

function seconds(name: string, label: string, measure: ReportMeasure): Metric {
  const valueOf = (sum: SumOf): number => sum(measure) / MS_PER_SECOND;
  return { name, label, format: 'number', isRate: false, measures: [measure], valueOf };
}

function money(name: string, label: string, measure: ReportMeasure): Metric {
  const valueOf = (sum: SumOf): number => usdFromNano(sum(measure));
  return { name, label, format: 'currency', isRate: false, measures: [measure], valueOf };
}

function share(name: string, label: string, part: ReportMeasure, whole: ReportMeasure): Metric {
  const valueOf = (sum: SumOf): number | null => (sum(whole) === 0 ? null : sum(part) / sum(whole));
  return { name, label, format: 'percent', isRate: true, measures: [part, whole], valueOf };
}

function speed(
  name: string,
  label: string,
  format: 'latency' | 'throughput',
  [bounds, measures]: readonly [readonly number[], readonly ClassColumn[]],
  percentile: number,
): Metric {
  const valueOf = (sum: SumOf): number | null => percentileOf(bounds, measures.map(sum), percentile);
  return { name, label, format, isRate: true, isSpeed: true, measures, valueOf };
}

const FIRST_TOKEN = [FIRST_TOKEN_BOUNDS_MS, FIRST_TOKEN_CLASSES] as const;
const THROUGHPUT = [THROUGHPUT_BOUNDS, THROUGHPUT_CLASSES] as const;

/** Accepted for compatibility; this gateway gives no discount for data. */
const NO_DISCOUNTS: Metric = {
  name: 'usage_data',
  label: 'Discounts for data, which this gateway does not give',
  format: 'currency',
  isRate: false,
  measures: ['requests'],
  valueOf: () => 0,
};

const TOOL_SUCCESS: Metric = {
  name: 'tool_success_rate',
  label: 'Calls of server tools that did not fail',
  format: 'percent',
  isRate: true,
  measures: ['tool_calls', 'tool_failures'],
  valueOf: (sum) => (sum('tool_calls') === 0 ? null : 1 - sum('tool_failures') / sum('tool_calls')),
};

/** @spec analytics-2; names that it does not give are ours */
export const METRICS: readonly Metric[] = [
  count('request_count', 'Requests', 'requests'),
  count('error_count', 'Failed requests', 'failures'),
  count('cancelled_count', 'Requests whose caller hung up', 'cancelled'),
  count('unpriced_count', 'Requests whose price is unknown', 'unpriced'),
  money('total_usage', 'Spend', 'cost_nano_usd'),
  money('usage_upstream', 'Spend on own credentials, at list price', 'byok_nano_usd'),
  money('usage_cache', 'Saved by prompt caches', 'cache_discount_nano_usd'),
  NO_DISCOUNTS,
  money('usage_web', 'Spend on searching and reading the web', 'web_nano_usd'),
  money('usage_file', 'Spend on reading files', 'file_nano_usd'),
  count('tokens_total', 'Tokens', 'tokens_prompt', 'tokens_completion'),
  count('tokens_prompt', 'Prompt tokens', 'tokens_prompt'),
  count('tokens_completion', 'Completion tokens', 'tokens_completion'),
  count('reasoning_tokens', 'Reasoning tokens', 'tokens_reasoning'),
  count('cached_tokens', 'Prompt tokens read from caches', 'tokens_cache_read'),
  count('cache_write_tokens', 'Prompt tokens written to caches', 'tokens_cache_write'),
  count('web_search_count', 'Searches that providers ran', 'web_searches'),
  share('cache_hit_rate', 'Cache hit rate', 'tokens_cache_read', 'tokens_prompt'),
  share('error_rate', 'Error rate', 'failures', 'requests'),
  count('tool_call_count', 'Calls of server tools', 'tool_calls'),
  TOOL_SUCCESS,
  count('characters', 'Characters spoken', 'characters'),
  seconds('audio_seconds', 'Audio heard and made, seconds', 'audio_ms'),
  count('images', 'Pictures made', 'images'),
  count('search_units', 'Search units of rerankers', 'search_units'),
  seconds('video_seconds', 'Clips made, seconds', 'video_ms'),
  { ...money('router_savings', 'Saved by routers', 'saved_nano_usd'), isOfRecords: true },
  { ...count('rescue_count', 'Responses continued by another endpoint', 'rescues'), isOfRecords: true },
  speed('ttft_p50', 'Time to first token, median', 'latency', FIRST_TOKEN, 0.5),
  speed('ttft_p95', 'Time to first token, 95th percentile', 'latency', FIRST_TOKEN, 0.95),
  speed('throughput_p50', 'Tokens per second, median', 'throughput', THROUGHPUT, 0.5),
];
