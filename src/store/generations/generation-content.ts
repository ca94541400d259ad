import { contentRows, type ContentRow } from '../accounts/columns.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

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
    async removeBefore(atMs, limit) {
      const { numDeletedRows } = await background
        .deleteFrom('generation_content')
        .where('generation_id', 'in', (query) =>
          query
            .selectFrom('generation_content')
            .select('generation_id')
            .where('created_at_ms', '<', atMs)
            .orderBy('created_at_ms')
            .limit(limit),
        )
        .executeTakeFirstOrThrow();
      return numberOf(numDeletedRows);
    },
  };
}
