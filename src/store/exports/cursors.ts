import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { databaseNow } from '../engine/now.ts';
import { cursorRows, type CursorRow } from './columns.ts';
import type { ExportPosition } from './export-rows.ts';

/** What a sender stores of its progress. */
export type CursorChanges = Partial<
  Pick<
    CursorRow,
    'xid' | 'seq' | 'state' | 'failures' | 'failingSinceMs' | 'lastSuccessMs' | 'lastError' | 'recentFailures'
  >
>;

/** Records that are done with since progress was stored last. */
export type CursorCounts = Pick<CursorRow, 'sent' | 'failed' | 'dropped'>;

/** How far destinations are. One process at a time sends to a destination: which of them, its row says. */
export interface Cursors {
  /** Makes the row of a destination that has none. */
  open(destinationId: string, at: ExportPosition): Promise<void>;
  /** Lets this process send for a time, or longer; `undefined`: another one does. */
  take(destinationId: string, holder: string, leaseMs: number): Promise<CursorRow | undefined>;
  /**
   * Stores progress since a position: each record is counted once, with the step that passes it.
   * @returns `false`: another process sends meanwhile, or records were given up behind the position; nothing was stored
   */
  save(
    destinationId: string,
    holder: string,
    from: ExportPosition,
    changes: CursorChanges,
    counts?: CursorCounts,
  ): Promise<boolean>;
  /**
   * Gives records up before they are deleted, whichever process sends.
   * @returns `false`: the destination is not at the position any more, and nothing was stored
   */
  skip(destinationId: string, from: ExportPosition, to: ExportPosition, dropped: number): Promise<boolean>;
  release(destinationId: string, holder: string): Promise<void>;
  /** Forgets failures. The process that sends goes on with its turn. */
  reset(destinationId: string): Promise<void>;
  find(destinationIds: readonly string[]): Promise<ReadonlyMap<string, CursorRow>>;
  /** Of all destinations, the ones that are off as well. */
  all(): Promise<readonly CursorRow[]>;
  remove(destinationId: string): Promise<void>;
}

export function createCursors(database: Database): Cursors {
  return { ...leases(database), ...records(database) };
}

const NONE: CursorCounts = { sent: 0, failed: 0, dropped: 0 };

/** Several processes count. */
function increments({ sent, failed, dropped }: CursorCounts) {
  return {
    sent: sql<number>`sent + ${sent}`,
    failed: sql<number>`failed + ${failed}`,
    dropped: sql<number>`dropped + ${dropped}`,
  };
}

/** Which process sends. */
function leases({ kysely, engine }: Database): Pick<Cursors, 'take' | 'save' | 'skip' | 'release' | 'reset'> {
  const nowMs = databaseNow(engine);
  return {
    async take(destinationId, holder, leaseMs) {
      const row = await kysely
        .updateTable('destination_cursors')
        .set({ holder, lease_until_ms: sql<number>`${nowMs} + ${leaseMs}` })
        .where('destination_id', '=', destinationId)
        .where((where) =>
          where.or([where('holder', 'is', null), where('holder', '=', holder), where('lease_until_ms', '<', nowMs)]),
        )
        .returningAll()
        .executeTakeFirst();
      return row && cursorRows.toRow(row);
    },
    async save(destinationId, holder, { xid, seq }, changes, counts = NONE) {
      const { numUpdatedRows } = await kysely
        .updateTable('destination_cursors')
        .set({ ...cursorRows.toChanges(changes), ...increments(counts) })
        .where('destination_id', '=', destinationId)
        .where('holder', '=', holder)
        .where('xid', '=', xid)
        .where('seq', '=', seq)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async skip(destinationId, from, to, dropped) {
      const { numUpdatedRows } = await kysely
        .updateTable('destination_cursors')
        .set({ xid: to.xid, seq: to.seq, ...increments({ ...NONE, dropped }) })
        .where('destination_id', '=', destinationId)
        .where('xid', '=', from.xid)
        .where('seq', '=', from.seq)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async release(destinationId, holder) {
      await kysely
        .updateTable('destination_cursors')
        .set({ holder: null, lease_until_ms: 0 })
        .where('destination_id', '=', destinationId)
        .where('holder', '=', holder)
        .execute();
    },
    async reset(destinationId) {
      await kysely
        .updateTable('destination_cursors')
        .set({ state: 'ok', failures: 0, failing_since_ms: null, last_error: null })
        .where('destination_id', '=', destinationId)
        .execute();
    },
  };
}

function records({ kysely }: Database): Pick<Cursors, 'open' | 'find' | 'all' | 'remove'> {
  return {
    async open(destinationId, { xid, seq }) {
      const row = cursorRows.toColumns({
        destinationId,
        xid,
        seq,
        holder: null,
        leaseUntilMs: 0,
        state: 'ok',
        failures: 0,
        failingSinceMs: null,
        lastSuccessMs: null,
        lastError: null,
        sent: 0,
        failed: 0,
        dropped: 0,
        recentFailures: [],
      });
      await kysely
        .insertInto('destination_cursors')
        .values(row)
        .onConflict((conflict) => conflict.column('destination_id').doNothing())
        .execute();
    },
    async find(destinationIds) {
      if (destinationIds.length === 0) return new Map();
      const rows = await kysely
        .selectFrom('destination_cursors')
        .selectAll()
        .where('destination_id', 'in', destinationIds)
        .execute();
      return new Map(rows.map((row) => [row.destination_id, cursorRows.toRow(row)]));
    },
    async all() {
      return (await kysely.selectFrom('destination_cursors').selectAll().execute()).map(cursorRows.toRow);
    },
    async remove(destinationId) {
      await kysely.deleteFrom('destination_cursors').where('destination_id', '=', destinationId).execute();
    },
  };
}
