import { generationRouteRows, type GenerationRouteRow } from '../accounts/columns.ts';
import type { Database } from '../engine/database.ts';
import { removeOlder } from './remove-older.ts';

/** How generations were routed. */
export interface RouteStore {
  /** Inserts the rows and leaves existing ones as they are. */
  insert(rows: readonly GenerationRouteRow[]): Promise<void>;
  find(generationId: string): Promise<GenerationRouteRow | undefined>;
  /** Deletes at most `limit` of the older rows. Returns how many. */
  removeBefore(atMs: number, limit: number): Promise<number>;
}

export function createRouteStore({ kysely, background }: Pick<Database, 'kysely' | 'background'>): RouteStore {
  return {
    async insert(rows) {
      if (rows.length === 0) return;
      await background
        .insertInto('generation_routes')
        .values(rows.map(generationRouteRows.toColumns))
        .onConflict((conflict) => conflict.column('generation_id').doNothing())
        .execute();
    },
    async find(generationId) {
      const columns = await kysely
        .selectFrom('generation_routes')
        .selectAll()
        .where('generation_id', '=', generationId)
        .executeTakeFirst();
      return columns && generationRouteRows.toRow(columns);
    },
    removeBefore: (atMs, limit) => removeOlder({ background }, 'generation_routes', atMs, limit),
  };
}
