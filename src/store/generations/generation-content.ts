import { contentRows, type ContentRow } from '../accounts/columns.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** What was said in generations, sealed. */
export interface ContentStore {
  /** Those that are there already stay as they are. */
  insert(rows: readonly ContentRow[]): Promise<void>;
  find(generationId: string): Promise<ContentRow | undefined>;
  /** Deletes at most `limit` of those that are older. How many it were. */
  removeBefore(atMs: number, limit: number): Promise<number>;
}

export function createContentStore({ database }: { readonly database: Database }): ContentStore {
  const { kysely } = database;
  return {
    async insert(rows) {
      if (rows.length === 0) return;
      await kysely
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
      const { numDeletedRows } = await kysely
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
