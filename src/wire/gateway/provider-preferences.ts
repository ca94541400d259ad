import { z } from 'zod';
import { DEFAULT_PREFERENCES } from '../../canonical/directives.ts';
import type { PercentileBound, ProviderPreferences } from '../../canonical/directives.ts';

const QUANTIZATIONS = [
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
] as const;

/** Longer than any price; the bound keeps the pattern's work small. */
const PRICE_CHARS_MAX = 40;
const DECIMAL = /^(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?$/;

const names = z.array(z.string()).nullish();
const flag = z.boolean().nullish();
const metric = z.enum(['price', 'throughput', 'latency', 'exacto']);

/** The documented type is a decimal string; callers also send numbers. @spec route-15 */
const price = z
  .union([
    z.number().min(0),
    z
      .string()
      .max(PRICE_CHARS_MAX, { abort: true })
      .regex(DECIMAL, { error: 'must be a decimal number of at least 0' }),
  ])
  .nullish();

const bound = z.number().min(0);
const percentiles = z
  .union([
    bound,
    z.strictObject({ p50: bound.nullish(), p75: bound.nullish(), p90: bound.nullish(), p99: bound.nullish() }),
  ])
  .nullish();

/** Closed at every depth: a mistyped preference would otherwise be ignored in silence. @spec route-1 */
export const providerPreferences = z.strictObject({
  order: names,
  allow_fallbacks: flag,
  only: names,
  ignore: names,
  require_parameters: flag,
  data_collection: z.enum(['allow', 'deny']).nullish(),
  zdr: flag,
  enforce_distillable_text: flag,
  quantizations: z.array(z.enum(QUANTIZATIONS)).nullish(),
  sort: z
    .union([metric, z.strictObject({ by: metric.nullish(), partition: z.enum(['model', 'none']).nullish() })])
    .nullish(),
  max_price: z
    .strictObject({ prompt: price, completion: price, request: price, image: price, audio: price })
    .optional(),
  preferred_min_throughput: percentiles,
  preferred_max_latency: percentiles,
});

type Parsed = z.output<typeof providerPreferences>;
type Route = keyof typeof PARTITION_OF_ROUTE | null | undefined;

/** What the deprecated `route` asks for. @spec route-17 */
const PARTITION_OF_ROUTE = { fallback: 'model', sort: 'none' } as const;

/** @param route the deprecated top-level field, which asks for a partition where `provider` does not */
export function decodeProviderPreferences(parsed: Parsed | null | undefined, route: Route): ProviderPreferences {
  if (!parsed && !route) return DEFAULT_PREFERENCES;
  const { order, only, ignore, quantizations, max_price } = parsed ?? {};
  const throughput = decodePercentiles(parsed?.preferred_min_throughput);
  const latency = decodePercentiles(parsed?.preferred_max_latency);
  const sort = decodeSort(parsed?.sort, route);
  return {
    allowFallbacks: parsed?.allow_fallbacks ?? DEFAULT_PREFERENCES.allowFallbacks,
    requireParameters: parsed?.require_parameters ?? DEFAULT_PREFERENCES.requireParameters,
    dataCollection: parsed?.data_collection ?? DEFAULT_PREFERENCES.dataCollection,
    zdr: parsed?.zdr ?? DEFAULT_PREFERENCES.zdr,
    enforceDistillableText: parsed?.enforce_distillable_text ?? DEFAULT_PREFERENCES.enforceDistillableText,
    ...(order && { order }),
    ...(only && { only }),
    ...(ignore && { ignore }),
    ...(quantizations && { quantizations }),
    ...(sort && { sort }),
    ...(max_price && { maxPrice: decodeMaxPrice(max_price) }),
    ...(throughput && { preferredMinThroughput: throughput }),
    ...(latency && { preferredMaxLatency: latency }),
  };
}

function decodeSort(sort: Parsed['sort'], route: Route): ProviderPreferences['sort'] | undefined {
  const requested = typeof sort === 'string' ? { by: sort, partition: undefined } : sort;
  const by = requested?.by ?? undefined;
  const partition = requested?.partition ?? (route ? PARTITION_OF_ROUTE[route] : undefined);
  if (by === undefined && partition === undefined) return undefined;
  return { ...(by !== undefined && { by }), ...(partition !== undefined && { partition }) };
}

function decodeMaxPrice(prices: NonNullable<Parsed['max_price']>): NonNullable<ProviderPreferences['maxPrice']> {
  const caps: Partial<Record<keyof typeof prices, number>> = {};
  for (const unit of ['prompt', 'completion', 'request', 'image', 'audio'] as const) {
    const cap = prices[unit];
    if (cap !== undefined && cap !== null) caps[unit] = Number(cap);
  }
  return caps;
}

function decodePercentiles(parsed: Parsed['preferred_min_throughput']): PercentileBound | undefined {
  if (parsed === undefined || parsed === null) return undefined;
  if (typeof parsed === 'number') return { p50: parsed };
  const given: Partial<Record<keyof PercentileBound, number>> = {};
  for (const percentile of ['p50', 'p75', 'p90', 'p99'] as const) {
    const value = parsed[percentile];
    if (value !== undefined && value !== null) given[percentile] = value;
  }
  return given;
}
