import { sql, type Kysely, type RawBuilder } from 'kysely';
import { assert } from '../../lib/assert.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { NO_TAGS, tagColumns, type TagInput } from './tag-columns.ts';
import {
  FIRST_TOKEN_BOUNDS_MS,
  FIRST_TOKEN_CLASSES,
  THROUGHPUT_BOUNDS,
  THROUGHPUT_CLASSES,
  type UsageDimension,
  type ReportMeasure,
} from './usage-measures.ts';

/** Dimensions that only the records themselves have. */
export const RECORD_DIMENSIONS = [
  'id',
  'session_id',
  'end_user_hash',
  'country',
  'api_type',
  'status',
  'error_type',
  'preset_slug',
  'router',
  'task_type',
  'origin',
] as const;
export type RecordDimension = (typeof RECORD_DIMENSIONS)[number];
export type Dimension = UsageDimension | RecordDimension;

/** The records, or stored sums of them. */
export type UsageSource = 'generations' | 'usage_hourly' | 'usage_daily';

export interface UsageFilter {
  readonly dimension: Dimension;
  /** `''` is unset. */
  readonly values: readonly string[];
  /** Whether these values are left out, instead of all others. */
  readonly isNot: boolean;
}

export interface UsageInput {
  /** A half-open range, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly by: readonly Dimension[];
  /** The bucket of a grouping by time: minutes, hours, days or weeks (from Monday). */
  readonly bucketMs?: number;
  /** How far days and weeks begin before those of UTC: whole hours. Absent: with them. */
  readonly aheadMs?: number;
  readonly measures: readonly ReportMeasure[];
  readonly filters: readonly UsageFilter[];
  readonly tags?: TagInput | undefined;
}

/** Sums over the generations of one group. */
export interface UsageGroup {
  /** Start of the bucket, Unix ms; 0 without a grouping by time. */
  readonly startMs: number;
  /** In the order of `by`, then of the groups by tags. */
  readonly key: readonly string[];
  /** In the order of `measures`. */
  readonly sums: number[];
}

const WEEK_MS = 604_800_000;
/** 1970 began on a Thursday: the first Monday was the fifth. */
const FIRST_MONDAY_MS = 345_600_000;

/** @param groupsMax reads one group more than this, so that the result shows that there were more */
export async function sumUsage(
  reports: Kysely<Tables>,
  source: UsageSource,
  input: UsageInput,
  groupsMax: number,
): Promise<UsageGroup[]> {
  const { by, measures, fromMs, toMs, bucketMs, aheadMs = 0 } = input;
  const isRecords = source === 'generations';
  const time = sql.ref(isRecords ? 'created_at_ms' : 'start_ms');
  const dimension = isRecords ? recordDimension : (name: Dimension) => sql.ref(name);
  const sum = isRecords ? recordSum : (measure: ReportMeasure) => sql`sum(${sql.ref(measure)})`;
  const tags = input.tags === undefined ? NO_TAGS : tagColumns(input.tags, input);
  const keys = [...by.map((name) => dimension(name)), ...tags.groups];
  const groups = [
    ...(bucketMs === undefined
      ? []
      : [sql`${bucketOf(aheadMs === 0 ? time : sql`(${time} + ${sql.lit(aheadMs)})`, bucketMs)} as start`]),
    ...keys.map((key, index) => sql`${key} as ${sql.ref(`d${index}`)}`),
  ];
  // The sums are doubles: a sum may be wider than what the drivers return as a number.
  const sums = measures.map(
    (measure, index) => sql`cast(${sum(measure)} as double precision) as ${sql.ref(`m${index}`)}`,
  );
  const positions = groups.map((_group, index) => sql.lit(index + 1));
  const filters = input.filters.map(({ dimension: name, values, isNot }) => {
    const list = sql.join(values.map((value) => shortened(name, value)));
    return isNot ? sql`and ${dimension(name)} not in (${list})` : sql`and ${dimension(name)} in (${list})`;
  });
  const { rows } = await sql<Readonly<Record<string, number | string | null>>>`
    select ${sql.join([...groups, ...sums])} from ${sql.table(source)} ${tags.join}
    where ${time} >= ${fromMs} and ${time} < ${toMs} ${sql.join([...filters, ...tags.conditions], sql` `)}
    ${groups.length === 0 ? sql`` : sql`group by ${sql.join(positions)}`}
    limit ${sql.lit(groupsMax + 1)}`.execute(reports);
  return rows.map((row) => ({
    startMs: bucketMs === undefined ? 0 : numberOf(row['start']),
    key: keys.map((_key, index) => String(row[`d${index}`] ?? '')),
    sums: measures.map((_measure, index) => numberOf(row[`m${index}`])),
  }));
}

function bucketOf(time: RawBuilder<unknown>, bucketMs: number): RawBuilder<unknown> {
  const bucket = sql.lit(bucketMs);
  if (bucketMs !== WEEK_MS) return sql`(${time} - ${time} % ${bucket})`;
  return sql`(${time} - (${time} - ${sql.lit(FIRST_MONDAY_MS)}) % ${bucket})`;
}

/** The length of an application's address, which is its name. */
export const APP_URL_CHARS = 200;
/**
 * How many characters of a name count, where callers choose it: all names together, at four bytes a character, are the
 * key of a row, and PostgreSQL takes keys of 2,704 bytes.
 */
const NAME_CHARS: ReadonlyMap<Dimension, number> = new Map<Dimension, number>([
  ['app_url', APP_URL_CHARS],
  ['model', 120],
  ['upstream_model', 120],
  ['member_id', 100],
]);

function recordDimension(name: Dimension): RawBuilder<unknown> {
  const chars = NAME_CHARS.get(name);
  const column = name === 'status' ? sql`cast(status as text)` : sql.ref(name);
  return chars === undefined
    ? sql`coalesce(${column}, '')`
    : sql`coalesce(substr(${column}, 1, ${sql.lit(chars)}), '')`;
}

/** Shortens a name to what the sums store. */
function shortened(name: Dimension, value: string): string {
  const chars = NAME_CHARS.get(name);
  return chars === undefined ? value : Array.from(value).slice(0, chars).join('');
}

const RECORD_SUMS: ReadonlyMap<ReportMeasure, RawBuilder<unknown>> = new Map<ReportMeasure, RawBuilder<unknown>>([
  ['requests', sql`count(*)`],
  ['failures', sql`sum(case when status >= 400 and cancelled = 0 then 1 else 0 end)`],
  ['cancelled', sql`sum(cancelled)`],
  ['unpriced', sql`sum(case when cost_nano_usd is null then 1 else 0 end)`],
  ['tokens_prompt', sql`sum(tokens_prompt)`],
  ['tokens_completion', sql`sum(tokens_completion)`],
  ['tokens_reasoning', sql`sum(coalesce(tokens_reasoning, 0))`],
  ['tokens_cache_read', sql`sum(tokens_cache_read)`],
  ['tokens_cache_write', sql`sum(tokens_cache_write)`],
  ['web_searches', sql`sum(coalesce(web_searches, 0))`],
  ['cost_nano_usd', sql`sum(coalesce(cost_nano_usd, 0))`],
  ['byok_nano_usd', sql`sum(case when is_byok = 1 then coalesce(list_cost_nano_usd, 0) else 0 end)`],
  ['cache_discount_nano_usd', sql`sum(coalesce(cache_discount_nano_usd, 0))`],
  ['web_nano_usd', sql`sum(coalesce(web_cost_nano_usd, 0))`],
  ['file_nano_usd', sql`sum(coalesce(file_cost_nano_usd, 0))`],
  ['tool_calls', sql`sum(coalesce(tool_calls, 0))`],
  ['tool_failures', sql`sum(coalesce(tool_failures, 0))`],
  ['characters', sql`sum(coalesce(characters, 0))`],
  ['audio_ms', sql`sum(coalesce(audio_ms, 0) + coalesce(output_audio_ms, 0))`],
  ['images', sql`sum(case when api_type = 'image' then coalesce(media_completion, 0) else 0 end)`],
  ['search_units', sql`sum(coalesce(search_units, 0))`],
  ['video_ms', sql`sum(coalesce(video_ms, 0))`],
  ['saved_nano_usd', sql`sum(coalesce(saved_nano_usd, 0))`],
  ['rescues', sql`sum(case when warnings like '%"answer-rescued"%' then 1 else 0 end)`],
  ...FIRST_TOKEN_CLASSES.map((column, index) => [column, countFirstTokens(index)] as const),
  ...THROUGHPUT_CLASSES.map((column, index) => [column, countThroughputs(index)] as const),
]);

function countFirstTokens(index: number): RawBuilder<unknown> {
  const [above, below] = [FIRST_TOKEN_BOUNDS_MS[index - 1], FIRST_TOKEN_BOUNDS_MS[index]];
  const time = sql`time_to_first_token_ms`;
  const lower = above === undefined ? sql`${time} is not null` : sql`${time} >= ${sql.lit(above)}`;
  const upper = below === undefined ? sql`` : sql`and ${time} < ${sql.lit(below)}`;
  return sql`sum(case when ${lower} ${upper} then 1 else 0 end)`;
}

/** Counts tokens per second without a division. */
function countThroughputs(index: number): RawBuilder<unknown> {
  const [above, below] = [THROUGHPUT_BOUNDS[index - 1], THROUGHPUT_BOUNDS[index]];
  const isAtLeast = (bound: number) => sql`tokens_completion * 1000 >= ${sql.lit(bound)} * generation_time_ms`;
  const lower = above === undefined ? sql`` : sql`and ${isAtLeast(above)}`;
  const upper = below === undefined ? sql`` : sql`and not ${isAtLeast(below)}`;
  return sql`sum(case when generation_time_ms > 0 and tokens_completion > 0 ${lower} ${upper} then 1 else 0 end)`;
}

function recordSum(measure: ReportMeasure): RawBuilder<unknown> {
  const sum = RECORD_SUMS.get(measure);
  assert(sum !== undefined, 'every measure is summed');
  return sum;
}
