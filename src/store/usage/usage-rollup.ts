import { CompiledQuery, sql } from 'kysely';
import { keepAppTitles, titlesBetween } from './app-titles.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import type { UsageTable } from '../tables.ts';
import { USAGE_DIMENSIONS, USAGE_MEASURES } from './usage-measures.ts';
import { DAY_MS, floorTo, HOUR_MS } from './hours.ts';
import { readUsageProgress, writeUsageProgress, type UsageProgress } from './usage-progress.ts';
import { sumUsage, type UsageGroup, type UsageSource } from './usage-sums.ts';

/**
 * Sums of generations by hour and by day. An hour is summed up once it is certain that no record of it is to come,
 * always as a whole and from the records themselves: a repeated run, or two processes at once, give the same rows.
 */
export interface UsageRollup {
  /** Sums up the next hour or day that is over, which is bounded work. `false`: nothing is due. */
  step(nowMs: number): Promise<boolean>;
}

export interface UsageRollupOptions {
  readonly database: Pick<Database, 'kysely' | 'reports' | 'runAlone'>;
  /** How long after its request a record may still be stored. */
  readonly lagMs: number;
  /** Default: `SLICE_RECORDS`. */
  readonly sliceRecords?: number;
  /** Default: `GROUPS_MAX`. */
  readonly groupsMax?: number;
}

/** Records that one query sums up: their groups are read in one piece. */
const SLICE_RECORDS = 5_000;
const SLICES_MAX = 120;
/**
 * Groups in one hour. Names that callers choose (`HTTP-Referer`, pass-through models) must not make as many rows as
 * there are records.
 */
const GROUPS_MAX = 5_000;
/** The name that stands for all further groups. */
export const OTHER = '(other)';
/**
 * Rows that one statement writes, 78 values each; each time the largest number that the rest fills. PostgreSQL takes
 * 65,535 values, SQLite half as many.
 */
const STATEMENT_ROWS = [200, 50, 10, 1] as const;

export function createUsageRollup({
  database,
  lagMs,
  sliceRecords = SLICE_RECORDS,
  groupsMax = GROUPS_MAX,
}: UsageRollupOptions): UsageRollup {
  const bounds = { sliceRecords, groupsMax };
  return {
    async step(nowMs) {
      const progress = await readUsageProgress(database);
      const overMs = floorTo(nowMs - lagMs, HOUR_MS);
      const hourMs = await nextTime(database, 'generations', progress.hourlyMs, overMs, HOUR_MS);
      if (hourMs < overMs) {
        const rows = await sumUp(database, bounds, 'generations', hourMs, HOUR_MS);
        await storeSums(
          database,
          progress,
          { hourlyMs: hourMs + HOUR_MS },
          { target: 'usage_hourly', startMs: hourMs, rows },
        );
        return true;
      }
      // Hours without records are complete, too.
      const hoursDone = { ...progress, hourlyMs: Math.max(overMs, progress.hourlyMs) };
      if (overMs > progress.hourlyMs && !(await storeSums(database, progress, hoursDone))) return true;
      const daysOverMs = floorTo(overMs, DAY_MS);
      const dayMs = await nextTime(database, 'usage_hourly', progress.dailyMs, daysOverMs, DAY_MS);
      if (dayMs < daysOverMs) {
        const rows = await sumUp(database, bounds, 'usage_hourly', dayMs, DAY_MS);
        await storeSums(
          database,
          hoursDone,
          { dailyMs: dayMs + DAY_MS },
          { target: 'usage_daily', startMs: dayMs, rows },
        );
        return true;
      }
      if (daysOverMs > progress.dailyMs) await storeSums(database, hoursDone, { dailyMs: daysOverMs });
      return false;
    },
  };
}

/** Finds the start of the next hour or day that has records; `endMs` when there is none before it. */
async function nextTime(
  { reports }: Pick<Database, 'reports'>,
  source: UsageSource,
  fromMs: number,
  endMs: number,
  stepMs: number,
): Promise<number> {
  const time = sql.ref(source === 'generations' ? 'created_at_ms' : 'start_ms');
  const { rows } = await sql<{ readonly first: number | string | null }>`
    select min(${time}) as first from ${sql.table(source)} where ${time} >= ${fromMs} and ${time} < ${endMs}`.execute(
    reports,
  );
  const first = rows[0]?.first ?? null;
  return first === null ? endMs : floorTo(numberOf(first), stepMs);
}

type UsageTarget = 'usage_hourly' | 'usage_daily';
type Bounds = Required<Pick<UsageRollupOptions, 'sliceRecords' | 'groupsMax'>>;

async function sumUp(
  { kysely, reports }: Pick<Database, 'kysely' | 'reports'>,
  { sliceRecords, groupsMax }: Bounds,
  source: UsageSource,
  startMs: number,
  lengthMs: number,
): Promise<readonly UsageTable[]> {
  const slices = await countSlices(reports, sliceRecords, source, startMs, lengthMs);
  let groups = new Map<string, UsageGroup>();
  for (let slice = 0; slice < slices; slice++) {
    const question = {
      fromMs: startMs + Math.floor((lengthMs * slice) / slices),
      toMs: startMs + Math.floor((lengthMs * (slice + 1)) / slices),
      by: USAGE_DIMENSIONS,
      measures: USAGE_MEASURES,
      filters: [],
    };
    for (const group of await sumUsage(reports, source, question, Number.MAX_SAFE_INTEGER - 1)) addGroup(groups, group);
    if (groups.size > groupsMax) groups = foldNames(groups, groupsMax);
    if (source === 'generations')
      await keepAppTitles(kysely, await titlesBetween(reports, question.fromMs, question.toMs));
  }
  return [...groups.values()].map((group) => rowOf(startMs, group));
}

/** SQL by database, table and number of rows: building it takes longer than running it. */
const statements = new WeakMap<Database['kysely'], Map<string, string>>();

function statementOf(kysely: Database['kysely'], target: UsageTarget, rows: readonly UsageTable[]): CompiledQuery {
  const name = `${target} ${rows.length}`;
  const ofDatabase = statements.get(kysely) ?? new Map<string, string>();
  statements.set(kysely, ofDatabase);
  const known = ofDatabase.get(name);
  if (known !== undefined) return CompiledQuery.raw(known, rows.flatMap(valuesOf));
  const statement = kysely.insertInto(target).columns(COLUMNS).values(rows).compile();
  ofDatabase.set(name, statement.sql);
  return statement;
}

const COLUMNS = ['start_ms', ...USAGE_DIMENSIONS, ...USAGE_MEASURES] as const;

function valuesOf(row: UsageTable): readonly unknown[] {
  return COLUMNS.map((column) => row[column]);
}

async function countSlices(
  reports: Database['reports'],
  sliceRecords: number,
  source: UsageSource,
  startMs: number,
  lengthMs: number,
): Promise<number> {
  if (source !== 'generations') return lengthMs / HOUR_MS;
  const { records } = await reports
    .selectFrom('generations')
    .where('created_at_ms', '>=', startMs)
    .where('created_at_ms', '<', startMs + lengthMs)
    .select(({ fn }) => fn.countAll().as('records'))
    .executeTakeFirstOrThrow();
  return Math.min(SLICES_MAX, Math.max(1, Math.ceil(numberOf(records) / sliceRecords)));
}

function addGroup(groups: Map<string, UsageGroup>, group: UsageGroup): void {
  const name = JSON.stringify(group.key);
  const before = groups.get(name);
  if (before === undefined) groups.set(name, group);
  else for (const [index, sum] of group.sums.entries()) before.sums[index] = (before.sums[index] ?? 0) + sum;
}

/** Merges groups by dropping names of applications, and then of models, until few enough are left. */
function foldNames(groups: ReadonlyMap<string, UsageGroup>, groupsMax: number): Map<string, UsageGroup> {
  let folded = new Map(groups);
  for (const given of [['app_url'], ['app_url', 'upstream_model', 'model']] as const) {
    folded = new Map();
    for (const { startMs, key, sums } of groups.values()) {
      const isGiven = (index: number): boolean => given.some((name) => name === USAGE_DIMENSIONS[index]);
      const names = key.map((value, index) => (isGiven(index) && value !== '' ? OTHER : value));
      addGroup(folded, { startMs, key: names, sums: [...sums] });
    }
    if (folded.size <= groupsMax) break;
  }
  return folded;
}

type Row = { -readonly [Column in keyof UsageTable]: UsageTable[Column] };

const EMPTY: Row = {
  start_ms: 0,
  workspace_id: '',
  key_hash: '',
  member_id: '',
  model: '',
  provider: '',
  upstream_model: '',
  app_url: '',
  requests: 0,
  failures: 0,
  cancelled: 0,
  unpriced: 0,
  tokens_prompt: 0,
  tokens_completion: 0,
  tokens_reasoning: 0,
  tokens_cache_read: 0,
  tokens_cache_write: 0,
  web_searches: 0,
  cost_nano_usd: 0,
  byok_nano_usd: 0,
  cache_discount_nano_usd: 0,
  web_nano_usd: 0,
  file_nano_usd: 0,
  tool_calls: 0,
  tool_failures: 0,
  characters: 0,
  audio_ms: 0,
  images: 0,
  search_units: 0,
  video_ms: 0,
};

function rowOf(startMs: number, { key, sums }: UsageGroup): UsageTable {
  const row: Row = { ...EMPTY, start_ms: startMs };
  for (const [index, dimension] of USAGE_DIMENSIONS.entries()) row[dimension] = key[index] ?? '';
  for (const [index, measure] of USAGE_MEASURES.entries()) row[measure] = sums[index] ?? 0;
  return row;
}

/** The sums of one hour or day. */
interface Sums {
  readonly target: UsageTarget;
  readonly startMs: number;
  readonly rows: readonly UsageTable[];
}

/**
 * Stores sums together with how far they are, unless another process has stored progress since `before` was read: the
 * sums may then lack records, and may be older than the stored ones.
 * @returns whether they were stored
 */
async function storeSums(
  { kysely, runAlone }: Pick<Database, 'kysely' | 'runAlone'>,
  before: UsageProgress,
  done: Partial<UsageProgress>,
  sums?: Sums,
): Promise<boolean> {
  return runAlone('usage-progress', async (transaction) => {
    const now = await readUsageProgress({ kysely: transaction });
    const isSame = (name: keyof UsageProgress): boolean => now[name] === before[name];
    if (!isSame('hourlyMs') || !isSame('dailyMs') || !isSame('setBackCount')) return false;
    if (sums !== undefined) {
      // Not written over: names may be merged that were apart, and the rows that they had would stay.
      await transaction.deleteFrom(sums.target).where('start_ms', '=', sums.startMs).execute();
      for (const statement of insertsOf(kysely, sums)) await transaction.executeQuery(statement);
    }
    await writeUsageProgress(transaction, { ...now, ...done });
    return true;
  });
}

function* insertsOf(kysely: Database['kysely'], { target, rows }: Sums): Generator<CompiledQuery> {
  for (let at = 0; at < rows.length;) {
    const size = STATEMENT_ROWS.find((count) => count <= rows.length - at) ?? 1;
    yield statementOf(kysely, target, rows.slice(at, at + size));
    at += size;
  }
}
