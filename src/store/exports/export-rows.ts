import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from '../generations/columns.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { RENEW_CURSORS, RENEW_ROWS, ROWS_RENEWED_AT_ONCE } from './renew-positions.ts';

/** A place in the order in which records reach destinations. */
export interface ExportPosition {
  readonly xid: number;
  readonly seq: number;
}

/** A record with what its row has no column for. */
export interface ExportRow extends ExportPosition {
  readonly endedMs: number;
  /** JSON. */
  readonly facts: string;
  readonly generation: GenerationRow;
}

/** What is known of a record without reading it. */
export interface WaitingRow extends ExportPosition {
  readonly workspaceId: string;
  readonly endedMs: number;
  readonly bytes: number;
}

/** Records on their way to destinations, in the order in which they were stored. */
export interface ExportRows {
  /** Where a destination begins that is made now. */
  end(): Promise<ExportPosition>;
  /** The workspaces that have records behind a position, and the end. */
  findNew(after: ExportPosition): Promise<{ readonly workspaces: ReadonlySet<string>; readonly end: ExportPosition }>;
  read(workspaceId: string, after: ExportPosition, limit: number): Promise<readonly ExportRow[]>;
  /** How many wait behind a position, counted up to a limit, and since when the oldest does. */
  countWaiting(
    workspaceId: string,
    after: ExportPosition,
    limit: number,
  ): Promise<{ readonly count: number; readonly oldestMs: number | undefined }>;
  /** Deletes records of a workspace up to a position, at most `limit`. Returns how many. */
  removeThrough(workspaceId: string, through: ExportPosition, limit: number): Promise<number>;
  /** The first of all records, whether or not they were sent. None that is stored later comes before them. */
  oldest(limit: number): Promise<readonly WaitingRow[]>;
  remove(rows: readonly Pick<WaitingRow, 'seq'>[]): Promise<number>;
  /**
   * Puts an end to positions that another cluster of PostgreSQL has given, which the database was moved from: this one
   * would hold the records back, or pass over new ones. Some may be sent once more.
   * @param known a position that the caller remembers
   * @returns whether there were any, or the known one is
   */
  mendPositions(known?: ExportPosition): Promise<boolean>;
  /** Workspaces of which there are records, and how many bytes all of them take. A long read. */
  measure(): Promise<{ readonly workspaces: readonly string[]; readonly bytes: number }>;
}

/** Whether a place is behind another one. */
export function isBehind(one: ExportPosition, other: ExportPosition): boolean {
  return one.xid < other.xid || (one.xid === other.xid && one.seq < other.seq);
}

const START: ExportPosition = { xid: 0, seq: 0 };

export function createExportRows(database: Database): ExportRows {
  return { ...reading(database), ...measuring(database), ...removals(database), ...mending(database) };
}

const isAfter = ({ xid, seq }: ExportPosition): RawBuilder<boolean> =>
  sql<boolean>`(export_rows.xid, export_rows.seq) > (${xid}, ${seq})`;

/** What a transaction stores that is still open may come before what is committed already: it would be passed over. */
const settledOn = (engine: Database['engine']): RawBuilder<boolean> =>
  engine === 'postgres'
    ? sql<boolean>`export_rows.xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint`
    : sql<boolean>`true`;

function reading({ kysely, engine }: Database): Pick<ExportRows, 'end' | 'findNew' | 'read'> {
  const isSettled = settledOn(engine);
  return {
    async end() {
      const last = await kysely
        .selectFrom('export_rows')
        .select(['xid', 'seq'])
        .orderBy('xid', 'desc')
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      return last ?? START;
    },
    async findNew(after) {
      const rows = await kysely
        .selectFrom('export_rows')
        .select('workspace_id')
        .select(sql<number>`max(xid)`.as('xid'))
        .select(sql<number>`max(seq)`.as('seq'))
        .where(isAfter(after))
        .where(isSettled)
        .groupBy('workspace_id')
        .execute();
      const [xids, seqs] = [rows.map((row) => numberOf(row.xid)), rows.map((row) => numberOf(row.seq))];
      // All rows of a transaction that is over are seen, and SQLite has but one.
      const end: ExportPosition =
        engine === 'postgres'
          ? { xid: Math.max(after.xid, ...xids), seq: Number.MAX_SAFE_INTEGER }
          : { xid: 0, seq: Math.max(after.seq, ...seqs) };
      return { workspaces: new Set(rows.map((row) => row.workspace_id)), end: rows.length === 0 ? after : end };
    },
    async read(workspaceId, after, limit) {
      const rows = await kysely
        .selectFrom('export_rows')
        .innerJoin('generations', 'generations.id', 'export_rows.record_id')
        .selectAll('generations')
        .select(['export_rows.xid', 'export_rows.seq', 'export_rows.ended_ms', 'export_rows.facts'])
        .where('export_rows.workspace_id', '=', workspaceId)
        .where(isAfter(after))
        .where(isSettled)
        .orderBy('export_rows.xid')
        .orderBy('export_rows.seq')
        .limit(limit)
        .execute();
      return rows.map(({ xid, seq, ended_ms: endedMs, facts, ...generation }) => ({
        xid,
        seq,
        endedMs,
        facts,
        generation: generationRows.toRow(generation),
      }));
    },
  };
}

function measuring({ reports }: Database): Pick<ExportRows, 'countWaiting' | 'measure'> {
  return {
    async countWaiting(workspaceId, after, limit) {
      const { count, oldest } = await reports
        .selectFrom((from) =>
          from
            .selectFrom('export_rows')
            .select('ended_ms')
            .where('workspace_id', '=', workspaceId)
            .where(isAfter(after))
            .orderBy('xid')
            .orderBy('seq')
            .limit(limit)
            .as('waiting'),
        )
        .select(sql<number>`count(*)`.as('count'))
        .select(sql<number | null>`min(ended_ms)`.as('oldest'))
        .executeTakeFirstOrThrow();
      return { count: numberOf(count), oldestMs: oldest === null ? undefined : numberOf(oldest) };
    },
    async measure() {
      const rows = await reports
        .selectFrom('export_rows')
        .select('workspace_id')
        .select(sql<number>`sum(size_bytes)`.as('bytes'))
        .groupBy('workspace_id')
        .execute();
      return {
        workspaces: rows.map((row) => row.workspace_id),
        bytes: rows.reduce((sum, row) => sum + numberOf(row.bytes), 0),
      };
    },
  };
}

function mending({ engine, kysely, runAlone }: Database): Pick<ExportRows, 'mendPositions'> {
  return {
    async mendPositions(known = START) {
      if (engine !== 'postgres') return false;
      const { isStored, isKnown } = await findForeign(kysely, known);
      if (!isStored) return isKnown;
      return runAlone('export-positions', async (transaction) => {
        // Another process may have been faster.
        if (!(await findForeign(transaction, known)).isStored) return true;
        await sql.raw(RENEW_CURSORS).execute(transaction);
        let renewed: number;
        do renewed = Number((await sql.raw(RENEW_ROWS).execute(transaction)).numAffectedRows);
        while (renewed === ROWS_RENEWED_AT_ONCE);
        return true;
      });
    },
  };
}

/** Positions of transactions that this cluster has not begun yet. */
async function findForeign(
  kysely: Kysely<Tables>,
  known: ExportPosition,
): Promise<{ readonly isStored: boolean; readonly isKnown: boolean }> {
  const next = sql`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`;
  const { rows } = await sql<{ readonly isStored: boolean; readonly isKnown: boolean }>`
    select ${known.xid}::bigint >= ${next} as "isKnown",
      exists (select from export_rows where xid >= ${next})
        or exists (select from destination_cursors where xid >= ${next}) as "isStored"`.execute(kysely);
  return rows[0] ?? { isStored: false, isKnown: false };
}

function removals({ kysely, engine }: Database): Pick<ExportRows, 'removeThrough' | 'oldest' | 'remove'> {
  const remove: ExportRows['remove'] = async (found) => {
    if (found.length === 0) return 0;
    const seqs = found.map(({ seq }) => seq);
    const { numDeletedRows } = await kysely
      .deleteFrom('export_rows')
      .where('seq', 'in', seqs)
      .executeTakeFirstOrThrow();
    return numberOf(numDeletedRows);
  };
  return {
    remove,
    removeThrough: async (workspaceId, through, limit) =>
      remove(
        await kysely
          .selectFrom('export_rows')
          .select('seq')
          .where('workspace_id', '=', workspaceId)
          .where(sql<boolean>`not ${isAfter(through)}`)
          .orderBy('xid')
          .orderBy('seq')
          .limit(limit)
          .execute(),
      ),
    async oldest(limit) {
      const rows = await kysely
        .selectFrom('export_rows')
        .select(['xid', 'seq', 'workspace_id', 'ended_ms', 'size_bytes'])
        .where(settledOn(engine))
        .orderBy('xid')
        .orderBy('seq')
        .limit(limit)
        .execute();
      return rows.map(({ xid, seq, workspace_id: workspaceId, ended_ms: endedMs, size_bytes: bytes }) => ({
        xid,
        seq,
        workspaceId,
        endedMs,
        bytes,
      }));
    },
  };
}
