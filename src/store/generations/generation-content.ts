import { contentRows, type ContentRow } from '../accounts/columns.ts';
import type { Database } from '../engine/database.ts';
import { removeOlder } from './remove-older.ts';

/** The texts of generations, sealed. */
export interface ContentStore {
  /** Inserts the rows and leaves existing ones as they are. */
  insert(rows: readonly ContentRow[]): Promise<void>;
  find(generationId: string): Promise<ContentRow | undefined>;
  /** Deletes at most `limit` of the older rows. Returns how many. */
  removeBefore(atMs: number, limit: number): Promise<number>;
}

export function createContentStore({ database }: { readonly database: Database }): ContentStore {
  const { kysely, background } = database;
  return {
    async insert(rows) {
      if (rows.length === 0) return;
      await background
        .insertInto('generation_content')
        .values(rows.map(contentRows.toColumns))
        .onConflict((conflict) => conflict.column('generation_id').doNothing())
        .execute();
    },
    async find(generationId) {
      const columns = await kysely
        .selectFrom('generation_content')
        .selectAll()
        .where('generation_id', '=', generationId)
        .executeTakeFirst();
      return columns && contentRows.toRow(columns);
    },
    removeBefore: (atMs, limit) => removeOlder(database, 'generation_content', atMs, limit),
  };
}
