import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { storableText } from '../portable.ts';
import { scimRequestRows, type ScimRequestRow } from './columns.ts';

export interface ScimRequestStore {
  insert(rows: readonly ScimRequestRow[]): Promise<void>;
  /** The newest first. */
  page(window: PageWindow): Promise<Page<ScimRequestRow>>;
  /** Keeps the newest rows, as far as they are no older. */
  clearAway(rowsMax: number, beforeMs: number): Promise<void>;
}

export function createScimRequestStore({ database }: { readonly database: Database }): ScimRequestStore {
  const { kysely } = database;
  return {
    async insert(rows) {
      const values = rows.map(({ path, outcome, ...row }) =>
        scimRequestRows.toColumns({ ...row, path: storableText(path), outcome: storableText(outcome) }),
      );
      // A commit whose acknowledgement was lost is made again.
      await kysely
        .insertInto('scim_requests')
        .values(values)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    page: (window) =>
      fetchPage(
        kysely.selectFrom('scim_requests'),
        window,
        (found) => found.selectAll().orderBy('at_ms', 'desc').orderBy('id'),
        scimRequestRows.toRow,
      ),
    async clearAway(rowsMax, beforeMs) {
      const last = await kysely
        .selectFrom('scim_requests')
        .select('at_ms')
        .orderBy('at_ms', 'desc')
        .offset(rowsMax)
        .limit(1)
        .executeTakeFirst();
      await kysely
        .deleteFrom('scim_requests')
        .where('at_ms', '<=', Math.max(last?.at_ms ?? 0, beforeMs))
        .execute();
    },
  };
}
