import type { Transaction } from 'kysely';
import type { Database } from '../engine/database.ts';
import type { Tables } from '../tables.ts';
import { consoleSessionRows, type ConsoleSessionRow } from './columns.ts';

const { toColumns, toRow } = consoleSessionRows;

/** Sessions that have neither ended nor been idle for too long. */
export interface ConsoleSessionStore {
  /**
   * Inserts a session; deletes those that are over, and the oldest of its subject beyond `perSubjectMax`.
   * @param passwordHash of the user, as it was checked. Absent: no password proved it
   * @returns false: the password was changed meanwhile
   */
  insert(row: ConsoleSessionRow, perSubjectMax: number, passwordHash?: string): Promise<boolean>;
  find(idHash: string, nowMs: number): Promise<ConsoleSessionRow | undefined>;
  /** Lists the newest first, of all subjects or of one; at most `limit`. */
  list(nowMs: number, limit: number, subjectId?: string): Promise<readonly ConsoleSessionRow[]>;
  seen(id: string, seen: Pick<ConsoleSessionRow, 'lastSeenAtMs' | 'idleUntilMs'>): Promise<void>;
  /** @param subjectId whose session it has to be. Absent: anyone's. @returns whether it was there */
  delete(id: string, subjectId?: string): Promise<boolean>;
}

export function createConsoleSessionStore({ database }: { readonly database: Database }): ConsoleSessionStore {
  const { kysely } = database;
  return {
    insert: (row, perSubjectMax, passwordHash) =>
      kysely.transaction().execute(async (transaction) => {
        if (passwordHash !== undefined && !(await lockPassword(transaction, row.subjectId, passwordHash))) return false;
        await transaction
          .deleteFrom('console_sessions')
          .where((is) => is.or([is('ends_at_ms', '<=', row.createdAtMs), is('idle_until_ms', '<=', row.createdAtMs)]))
          .execute();
        const surplus = await transaction
          .selectFrom('console_sessions')
          .select('id')
          .where('subject_id', '=', row.subjectId)
          .orderBy('created_at_ms', 'desc')
          .limit(perSubjectMax)
          .offset(perSubjectMax - 1)
          .execute();
        const ids = surplus.map(({ id }) => id);
        if (ids.length > 0) await transaction.deleteFrom('console_sessions').where('id', 'in', ids).execute();
        await transaction.insertInto('console_sessions').values(toColumns(row)).execute();
        return true;
      }),
    async find(idHash, nowMs) {
      const columns = await kysely
        .selectFrom('console_sessions')
        .selectAll()
        .where('id_hash', '=', idHash)
        .where('ends_at_ms', '>', nowMs)
        .where('idle_until_ms', '>', nowMs)
        .executeTakeFirst();
      return columns && toRow(columns);
    },
    async list(nowMs, limit, subjectId) {
      let found = kysely
        .selectFrom('console_sessions')
        .selectAll()
        .where('ends_at_ms', '>', nowMs)
        .where('idle_until_ms', '>', nowMs);
      if (subjectId !== undefined) found = found.where('subject_id', '=', subjectId);
      const rows = await found.orderBy('created_at_ms', 'desc').orderBy('id').limit(limit).execute();
      return rows.map(toRow);
    },
    async seen(id, { lastSeenAtMs, idleUntilMs }) {
      await kysely
        .updateTable('console_sessions')
        .set({ last_seen_at_ms: lastSeenAtMs, idle_until_ms: idleUntilMs })
        .where('id', '=', id)
        .where('last_seen_at_ms', '<', lastSeenAtMs)
        .execute();
    },
    async delete(id, subjectId) {
      let query = kysely.deleteFrom('console_sessions').where('id', '=', id);
      if (subjectId !== undefined) query = query.where('subject_id', '=', subjectId);
      const { numDeletedRows } = await query.executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** Locks a user until the transaction ends, so that a change of its password ends what is inserted. */
async function lockPassword(transaction: Transaction<Tables>, userId: string, passwordHash: string): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('users')
    .set((set) => ({ email: set.ref('email') }))
    .where('id', '=', userId)
    .where('password_hash', '=', passwordHash)
    .where('disabled_at_ms', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
