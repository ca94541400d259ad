import { invalid } from '../../canonical/gateway-error.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';
import { DAY_MS, HOUR_MS } from '../../store/usage/hours.ts';
import { offsetOfZone } from './time-zone.ts';
import type { UsageInput } from '../../store/usage/usage-sums.ts';
import { DIMENSIONS, GRANULARITIES, type AnalyticsDimension, type Granularity, type Operator } from './dimensions.ts';
import { METRICS, type Metric } from './metrics.ts';
import { parseTags, type ParsedTags, type Scalar, type TagQuery } from './tags.ts';

/** A query as the caller sent it, with its shape checked. */
export interface AnalyticsQuery extends TagQuery {
  readonly metrics: readonly string[];
  readonly dimensions?: readonly string[] | undefined;
  readonly filters?:
    | readonly {
        readonly field: string;
        readonly operator: Operator;
        readonly value: Scalar | readonly Scalar[];
        readonly include_unset?: boolean | undefined;
      }[]
    | undefined;
  readonly granularity?: string | undefined;
  readonly timezone?: string | undefined;
  readonly time_range?: { readonly start: string; readonly end: string } | undefined;
  readonly order_by?: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
  readonly limit?: number | undefined;
  readonly group_limit?: number | undefined;
}

/** A query with its names resolved. */
export interface ParsedQuery {
  readonly input: Omit<UsageInput, 'filters'>;
  readonly metrics: readonly Metric[];
  readonly dimensions: readonly AnalyticsDimension[];
  readonly tags: ParsedTags | undefined;
  readonly granularity: Granularity | undefined;
  readonly filters: readonly {
    readonly dimension: AnalyticsDimension;
    readonly values: readonly Scalar[];
    readonly isNot: boolean;
    readonly path: string;
  }[];
  /** Conditions on the resulting rows. */
  readonly having: readonly { readonly metric: Metric; readonly isKept: (value: number) => boolean }[];
  /** A metric, a dimension or the time column. */
  readonly orderBy: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
  readonly limit: number;
  readonly groupLimit: number | undefined;
}

const LIMIT = 1_000;
/** The range of a query without one. */
const DEFAULT_RANGE_MS = 30 * DAY_MS;
/** @spec analytics-4 */
const RECORDS_RANGE_MS_MAX = 31 * DAY_MS;
const RANGE_MS_MAX = 10 * 366 * DAY_MS;
/** The number of time buckets in one query. */
const BUCKETS_MAX = 50_000;

/** @throws GatewayError 400 with the path of what is wrong */
export function parseQuery(query: AnalyticsQuery, nowMs: number): ParsedQuery {
  const metrics = query.metrics.map((name, index) => find(METRICS, name, `metrics[${index}]`));
  const dimensions = (query.dimensions ?? []).map((name, index) => find(DIMENSIONS, name, `dimensions[${index}]`));
  const granularity =
    query.granularity === undefined ? undefined : find(GRANULARITIES, query.granularity, 'granularity');
  const { filters, having } = parseFilters(query);
  const range = parseRange(query.time_range, nowMs);
  const aheadMs = query.timezone === undefined ? 0 : parseZone(query.timezone, range);
  const tags = parseTags(query);
  const needed = [...metrics, ...having.map(({ metric }) => metric)];
  checkRange(range, granularity, needed, [...dimensions, ...filters.map(({ dimension }) => dimension)]);
  if (tags !== undefined && range.toMs - range.fromMs > RECORDS_RANGE_MS_MAX)
    throw invalid('time_range', 'must not be longer than 31 days with tags of a classifier');
  const { order_by: orderBy } = query;
  const named = [...metrics, ...dimensions].map(({ name }) => name);
  const twice = tags?.columns.findIndex((name) => named.includes(name)) ?? -1;
  if (twice >= 0)
    throw invalid(`classifier_dimensions.dimension_names[${twice}]`, 'is the name of another column of this query');
  if (orderBy !== undefined) checkOrder(orderBy.field, [...named, ...(tags?.columns ?? [])], granularity);
  return {
    input: {
      ...range,
      by: dimensions.map(({ column }) => column),
      measures: [...new Set(needed.flatMap(({ measures }) => measures))],
      ...(tags !== undefined && { tags: tags.input }),
      ...(granularity !== undefined && { bucketMs: granularity.bucketMs }),
      ...(granularity !== undefined && granularity.bucketMs >= DAY_MS && aheadMs !== 0 && { aheadMs }),
    },
    metrics,
    dimensions,
    tags,
    granularity,
    filters,
    having,
    orderBy,
    limit: query.limit ?? LIMIT,
    groupLimit: query.group_limit,
  };
}

export function timeColumn({ name }: Granularity): string {
  return `created_at__${name}`;
}

function find<Known extends { readonly name: string }>(all: readonly Known[], name: string, path: string): Known {
  const found = all.find((known) => known.name === name);
  if (found !== undefined) return found;
  const names = all.map((known) => known.name);
  const nearest = nearestName(name, names);
  throw invalid(path, nearest === undefined ? `must be one of ${names.join(', ')}` : `did you mean "${nearest}"?`);
}

function parseFilters({ filters: requested = [] }: AnalyticsQuery): Pick<ParsedQuery, 'filters' | 'having'> {
  const filters: ParsedQuery['filters'][number][] = [];
  const having: ParsedQuery['having'][number][] = [];
  for (const [index, { field, operator, value, include_unset: includeUnset }] of requested.entries()) {
    const path = `filters[${index}]`;
    const isList = operator === 'in' || operator === 'not_in';
    if (Array.isArray(value) !== isList)
      throw invalid(
        `${path}.value`,
        isList ? `must be an array for "${operator}"` : `must be one value for "${operator}"`,
      );
    const metric = METRICS.find(({ name }) => name === field);
    if (metric === undefined) {
      const dimension = find(DIMENSIONS, field, `${path}.field`);
      if (!isList && operator !== 'eq' && operator !== 'neq')
        throw invalid(`${path}.operator`, 'must be eq, neq, in or not_in for a dimension');
      const isNot = operator === 'neq' || operator === 'not_in';
      const values = [value].flat();
      // Unset values are kept unless the filter excludes them.
      const isNamed = isNot ? includeUnset === false : includeUnset === true;
      filters.push({ dimension, values: isNamed ? [...values, ''] : values, isNot, path: `${path}.value` });
    } else {
      if (operator === 'in' || operator === 'not_in' || typeof value !== 'number')
        throw invalid(`${path}.value`, 'must be one number for a metric');
      const compare = COMPARISONS[operator];
      having.push({ metric, isKept: (found) => compare(found, value) });
    }
  }
  return { filters, having };
}

const COMPARISONS: Readonly<Record<Exclude<Operator, 'in' | 'not_in'>, (value: number, bound: number) => boolean>> = {
  eq: (value, bound) => value === bound,
  neq: (value, bound) => value !== bound,
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
};

/** Days are added up from hours: a zone that is not whole hours ahead, or changes within the range, is refused. */
function parseZone(zone: string, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): number {
  const [start, end] = [offsetOfZone(zone, fromMs), offsetOfZone(zone, toMs)];
  if (start === undefined || end === undefined)
    throw invalid('timezone', 'must be the name of a time zone, such as Europe/Berlin, or an offset, such as +02:00');
  if (start % HOUR_MS !== 0) throw invalid('timezone', 'must be whole hours away from UTC');
  if (start !== end)
    throw invalid(
      'timezone',
      'changes its hours within the time range: use a shorter one, or an offset such as +02:00',
    );
  return start;
}

function parseRange(range: AnalyticsQuery['time_range'], nowMs: number): { fromMs: number; toMs: number } {
  if (range === undefined) return { fromMs: nowMs - DEFAULT_RANGE_MS, toMs: nowMs };
  const [fromMs, toMs] = [Date.parse(range.start), Date.parse(range.end)];
  if (!(fromMs < toMs)) throw invalid('time_range', 'must end after its start');
  if (toMs - fromMs > RANGE_MS_MAX) throw invalid('time_range', 'must not be longer than ten years');
  // There are no records after now, and years without records are not worth a query each.
  return { fromMs: Math.max(0, Math.min(fromMs, nowMs)), toMs: Math.max(0, Math.min(toMs, nowMs)) };
}

function checkRange(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  granularity: Granularity | undefined,
  metrics: readonly Metric[],
  dimensions: readonly AnalyticsDimension[],
): void {
  const rangeMs = toMs - fromMs;
  if (granularity !== undefined && rangeMs / granularity.bucketMs > BUCKETS_MAX)
    throw invalid('granularity', `is too fine for this time: at most ${BUCKETS_MAX} steps`);
  if (rangeMs <= RECORDS_RANGE_MS_MAX) return;
  const short =
    metrics.find(({ isSpeed, isOfRecords }) => isSpeed ?? isOfRecords) ??
    dimensions.find(({ isOfRecords }) => isOfRecords);
  if (short !== undefined) throw invalid('time_range', `must not be longer than 31 days with "${short.name}"`);
  if (granularity?.name === 'minute') throw invalid('time_range', 'must not be longer than 31 days by minute');
}

function checkOrder(field: string, columns: readonly string[], granularity: Granularity | undefined): void {
  const names = granularity === undefined ? columns : [...columns, timeColumn(granularity)];
  if (!names.includes(field)) throw invalid('order_by.field', `must be one of ${names.join(', ')}`);
}
