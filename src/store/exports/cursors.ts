import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { cursorRows, type CursorRow } from './columns.ts';
import type { ExportPosition } from './export-rows.ts';

/** What a sender stores of its progress. */
export type CursorChanges = Partial<
  Pick<
    CursorRow,
    | 'xid'
    | 'seq'
    | 'state'
    | 'failures'
    | 'failingSinceMs'
    | 'lastSuccessMs'
    | 'lastError'
    | 'sent'
    | 'failed'
    | 'dropped'
    | 'recentFailures'
  >
>;

/** How far destinations are. One process at a time sends to a destination: which of them, its row says. */
export interface Cursors {
  /** Makes the row of a destination that has none. */
  open(destinationId: string, at: ExportPosition): Promise<void>;
  /** Lets this process send for a time, or longer; `undefined`: another one does. */
  take(destinationId: string, holder: string, leaseMs: number): Promise<CursorRow | undefined>;
  /** Stores progress. @returns `false`: another process sends meanwhile, and nothing was stored */
  save(destinationId: string, holder: string, changes: CursorChanges): Promise<boolean>;
  release(destinationId: string, holder: string): Promise<void>;
  /** Forgets failures: the next call is made at once, by whichever process. */
  reset(destinationId: string): Promise<void>;
  find(destinationIds: readonly string[]): Promise<ReadonlyMap<string, CursorRow>>;
  /** Of all destinations, the ones that are off as well. */
  all(): Promise<readonly CursorRow[]>;
  /** Records were deleted before they were sent. */
  addDropped(destinationId: string, count: number): Promise<void>;
  remove(destinationId: string): Promise<void>;
}

export function createCursors(database: Database): Cursors {
  return { ...leases(database), ...records(database) };
}

/** Which process sends. */
function leases({ kysely, engine }: Database): Pick<Cursors, 'take' | 'save' | 'release' | 'reset'> {
  // By the clock of the database, which all processes share.
  const nowMs =
    engine === 'postgres'
      ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
      : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
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
    async save(destinationId, holder, changes) {
      const { numUpdatedRows } = await kysely
        .updateTable('destination_cursors')
        .set(cursorRows.toChanges(changes))
        .where('destination_id', '=', destinationId)
        .where('holder', '=', holder)
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
        .set({ state: 'ok', failures: 0, failing_since_ms: null, last_error: null, holder: null, lease_until_ms: 0 })
        .where('destination_id', '=', destinationId)
        .execute();
    },
  };
}

function records({ kysely }: Database): Pick<Cursors, 'open' | 'find' | 'all' | 'addDropped' | 'remove'> {
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
    async addDropped(destinationId, count) {
      await kysely
        .updateTable('destination_cursors')
        .set({ dropped: sql<number>`dropped + ${count}` })
        .where('destination_id', '=', destinationId)
        .execute();
    },
    async remove(destinationId) {
      await kysely.deleteFrom('destination_cursors').where('destination_id', '=', destinationId).execute();
    },
  };
}
