import { destinationResource, type DestinationRow } from '../../resources/destinations.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';

const { toColumns, toRow } = destinationResource.rows;

/**
 * Checks all destinations while no other change can run; what it throws keeps the row as it was. A check before the
 * transaction would be too early: another change could come between.
 */
export type Admit = (all: readonly DestinationRow[]) => void;

/** Where records are sent, with configurations sealed. */
export interface DestinationStore {
  find(id: string): Promise<DestinationRow | undefined>;
  /** Lists the oldest first. */
  list(window: PageWindow & { readonly workspaceId?: string }): Promise<Page<DestinationRow>>;
  insert(row: DestinationRow, admit: Admit): Promise<void>;
  /** Updates the row where it is as it was when it was read. Returns whether it was. */
  update(row: DestinationRow, before: Pick<DestinationRow, 'updatedAtMs'>, admit: Admit): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}

export function createDestinationStore({ database }: { readonly database: Database }): DestinationStore {
  const { kysely, runAlone } = database;
  return {
    async find(id) {
      const columns = await kysely.selectFrom('destinations').selectAll().where('id', '=', id).executeTakeFirst();
      return columns && toRow(columns);
    },
    async list({ workspaceId, ...window }) {
      let found = kysely.selectFrom('destinations');
      if (workspaceId !== undefined) found = found.where('workspace_id', '=', workspaceId);
      return fetchPage(found, window, (each) => each.selectAll().orderBy('created_at_ms').orderBy('id'), toRow);
    },
    insert: (row, admit) =>
      runAlone('destinations', async (transaction) => {
        admit((await transaction.selectFrom('destinations').selectAll().execute()).map(toRow));
        await transaction.insertInto('destinations').values(toColumns(row)).execute();
      }),
    update: (row, before, admit) =>
      runAlone('destinations', async (transaction) => {
        admit((await transaction.selectFrom('destinations').selectAll().execute()).map(toRow));
        const { numUpdatedRows } = await transaction
          .updateTable('destinations')
          .set(toColumns(row))
          .where('id', '=', row.id)
          .where('updated_at_ms', '=', before.updatedAtMs)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    async remove(id) {
      const { numDeletedRows } = await kysely.deleteFrom('destinations').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
