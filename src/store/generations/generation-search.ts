import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely';
import type { GenerationOrigin } from '../../canonical/generation-origin.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { generationRows, type GenerationRow } from './columns.ts';

/** A place in the list of all generations, newest first. */
export interface GenerationPlace {
  readonly createdAtMs: number;
  readonly id: string;
}

/** `error`: 400 and more; `4xx`: a class; `429`: one status; `cancelled`: the caller disconnected. */
export type StatusFilter = 'error' | 'cancelled' | '2xx' | '4xx' | '5xx' | number;

/** Selects generations. An absent member does not restrict. */
export interface GenerationSearch {
  /** Unix ms, from this one on. */
  readonly fromMs?: number | undefined;
  /** Unix ms, before this one. */
  readonly toMs?: number | undefined;
  /** Continues behind this place. */
  readonly after?: GenerationPlace | undefined;
  readonly limit: number;
  /** Rows that are looked at. */
  readonly lookedAtMax: number;
  /** The only key whose rows are there for the caller. */
  readonly onlyKey?: string | undefined;
  /** Only generations of keys of this user, and those of these workspaces. */
  readonly onlyOf?: { readonly memberId: string; readonly workspaceIds: readonly string[] } | undefined;
  /** Equal texts, by column. A model may end in `*`. */
  readonly equal: Readonly<Partial<Record<EqualFilter, string>>>;
  readonly status?: StatusFilter | undefined;
  /** What made it. */
  readonly origin?: GenerationOrigin | 'request' | undefined;
  readonly isCached?: boolean | undefined;
  readonly isByok?: boolean | undefined;
  readonly isRescued?: boolean | undefined;
  readonly isWarned?: boolean | undefined;
  readonly costMinNanoUsd?: number | undefined;
  readonly latencyMinMs?: number | undefined;
  readonly firstTokenMinMs?: number | undefined;
}

export type EqualFilter = keyof typeof COLUMNS;

export interface GenerationsFound {
  readonly rows: readonly GenerationRow[];
  readonly lookedAt: number;
  /** Where to continue: behind the last row, or where the look ended. Absent: the range holds no more. */
  readonly next: GenerationPlace | undefined;
  /** The look ended here, at its bound, and not because the page was full. */
  readonly endedEarly: boolean;
}

const COLUMNS = {
  model: ['model'],
  requested: ['model_requested'],
  provider: ['provider'],
  key: ['key_hash'],
  workspace: ['workspace_id'],
  session: ['session_id'],
  requestId: ['request_id'],
  user: ['end_user_hash'],
  app: ['app_title', 'app_url'],
  preset: ['preset_slug'],
  router: ['router', 'strategy'],
  task: ['task_type'],
  finish: ['finish_reason'],
} as const;

type Builder = ExpressionBuilder<Tables, 'generations'>;

/**
 * Finds the newest generations that fit. At most `lookedAtMax` rows are looked at, so that no filter, however rare what it
 * selects, reads the whole table: then it ends with what it found, and with the place to continue. The index on the time
 * serves it; filters of their own have none, so that records stay cheap to write.
 */
export async function searchGenerations(
  { reports }: Pick<Database, 'reports'>,
  search: GenerationSearch,
): Promise<GenerationsFound> {
  const { limit, lookedAtMax } = search;
  const looked = reports
    .selectFrom('generations')
    .where((is) => is.and(rangeOf(is, search)))
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc');
  const columns = await reports
    .selectFrom(looked.selectAll().limit(lookedAtMax).as('generations'))
    .selectAll()
    .where((is) => is.and(filtersOf(is, search)))
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const rows = columns.slice(0, limit).map(generationRows.toRow);
  const last = rows.at(-1);
  const isFull = columns.length > limit && last !== undefined;
  const edge = isFull
    ? last
    : await looked
        .select(['created_at_ms as createdAtMs', 'id'])
        .offset(lookedAtMax - 1)
        .limit(1)
        .executeTakeFirst();
  const lookedAt =
    edge === undefined || isFull ? await countTo({ reports }, search, isFull ? last : undefined) : lookedAtMax;
  return {
    rows,
    lookedAt,
    next: edge && placeOf({ createdAtMs: numberOf(edge.createdAtMs), id: edge.id }, rows, search),
    endedEarly: !isFull && edge !== undefined,
  };
}

/**
 * The same place for a caller of one key, without the id of another key's generation: behind the key's last row of that
 * ms, or before the whole ms where it has none there.
 */
function placeOf(
  edge: GenerationPlace,
  rows: readonly GenerationRow[],
  { onlyKey, onlyOf }: GenerationSearch,
): GenerationPlace {
  if (onlyKey === undefined && onlyOf === undefined) return edge;
  const last = rows.at(-1);
  const hasOwn = last?.createdAtMs === edge.createdAtMs;
  return hasOwn ? { ...edge, id: last.id } : { createdAtMs: edge.createdAtMs + 1, id: '' };
}

/** Counts the rows of the range, to a place with it. */
async function countTo(
  { reports }: Pick<Database, 'reports'>,
  search: GenerationSearch,
  last: GenerationPlace | undefined,
): Promise<number> {
  const { rows } = await reports
    .selectFrom('generations')
    .select(({ fn }) => fn.countAll().as('rows'))
    .where((is) => is.and([...rangeOf(is, search), ...(last === undefined ? [] : [is.not(isBehind(is, last))])]))
    .executeTakeFirstOrThrow();
  return numberOf(rows);
}

function rangeOf(is: Builder, { fromMs, toMs, after }: GenerationSearch): Expression<SqlBool>[] {
  return [
    ...(fromMs === undefined ? [] : [is('created_at_ms', '>=', fromMs)]),
    ...(toMs === undefined ? [] : [is('created_at_ms', '<', toMs)]),
    // Besides the condition on both columns, so that the index is entered at the place.
    ...(after === undefined ? [] : [is('created_at_ms', '<=', after.createdAtMs), isBehind(is, after)]),
  ];
}

function isBehind(is: Builder, { createdAtMs, id }: GenerationPlace): Expression<SqlBool> {
  return is.or([
    is('created_at_ms', '<', createdAtMs),
    is.and([is('created_at_ms', '=', createdAtMs), is('id', '<', id)]),
  ]);
}

function filtersOf(is: Builder, search: GenerationSearch): Expression<SqlBool>[] {
  const { equal, status, origin, isCached, isByok, isRescued, isWarned } = search;
  const { costMinNanoUsd, latencyMinMs, firstTokenMinMs } = search;
  // No index leads to the rows of a key: in the range it would make the bounded look an unbounded one.
  const filters: Expression<SqlBool>[] = search.onlyKey === undefined ? [] : [is('key_hash', '=', search.onlyKey)];
  if (search.onlyOf !== undefined) {
    const { memberId, workspaceIds } = search.onlyOf;
    const own = is('member_id', '=', memberId);
    filters.push(workspaceIds.length === 0 ? own : is.or([own, is('workspace_id', 'in', workspaceIds)]));
  }
  const wanted = new Map(Object.entries(equal));
  for (const [name, names] of Object.entries(COLUMNS)) {
    const value = wanted.get(name);
    if (value !== undefined) filters.push(is.or(names.map((column) => isText(is, column, value))));
  }
  if (status !== undefined) filters.push(...statusOf(is, status));
  if (origin !== undefined) filters.push(origin === 'request' ? is('origin', 'is', null) : is('origin', '=', origin));
  const hasRescue = sql<SqlBool>`warnings like '%"answer-rescued"%'`;
  if (isCached !== undefined) filters.push(is('response_cache_source_id', isCached ? 'is not' : 'is', null));
  if (isByok !== undefined) filters.push(is('is_byok', '=', isByok ? 1 : 0));
  if (isRescued !== undefined) filters.push(isRescued ? hasRescue : is.not(hasRescue));
  if (isWarned !== undefined) filters.push(sql<SqlBool>`warnings ${sql.raw(isWarned ? '<>' : '=')} '[]'`);
  if (costMinNanoUsd !== undefined) filters.push(is('cost_nano_usd', '>=', costMinNanoUsd));
  if (latencyMinMs !== undefined) filters.push(is('latency_ms', '>=', latencyMinMs));
  if (firstTokenMinMs !== undefined) filters.push(is('time_to_first_token_ms', '>=', firstTokenMinMs));
  return filters;
}

/** `acme/*`: everything that begins so. */
function isText(is: Builder, column: (typeof COLUMNS)[EqualFilter][number], value: string): Expression<SqlBool> {
  if (!value.endsWith('*') || !column.startsWith('model')) return is(column, '=', value);
  const start = value.slice(0, -1).replaceAll(/[\\%_]/g, String.raw`\$&`);
  return sql<SqlBool>`${sql.ref(column)} like ${`${start}%`} escape '\\'`;
}

function statusOf(is: Builder, status: StatusFilter): Expression<SqlBool>[] {
  if (status === 'cancelled') return [is('cancelled', '=', 1)];
  if (status === 'error') return [is('status', '>=', 400)];
  if (typeof status === 'number') return [is('status', '=', status)];
  const first = Number(status.charAt(0)) * 100;
  return [is('status', '>=', first), is('status', '<', first + 100)];
}

/** Names of the keys of a page, deleted ones too. */
export async function keyNamesOf(
  { reports }: Pick<Database, 'reports'>,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (hashes.length === 0) return new Map();
  const rows = await reports.selectFrom('keys').select(['hash', 'name']).where('hash', 'in', hashes).execute();
  return new Map(rows.map(({ hash, name }) => [hash, name]));
}
