import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from './columns.ts';
import { keyNamesOf, searchGenerations, type GenerationSearch, type GenerationsFound } from './generation-search.ts';

export interface GenerationStore {
  /** By the id that its caller was given; of a response that ran twice in the background, its last run. */
  find(id: string): Promise<GenerationRow | undefined>;
  /** Finds the newest that fit, within a bounded look back. */
  search(search: GenerationSearch): Promise<GenerationsFound>;
  /** The names of keys, deleted ones too, by their hashes. At most 500. */
  keyNames(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export function createGenerationStore({
  database,
}: {
  readonly database: Pick<Database, 'kysely' | 'reports'>;
}): GenerationStore {
  return {
    search: (search) => searchGenerations(database, search),
    keyNames: (hashes) => keyNamesOf(database, hashes),
    async find(id) {
      const { kysely } = database;
      const first = await kysely.selectFrom('generations').selectAll().where('id', '=', id).executeTakeFirst();
      if (first !== undefined && first.background !== 1) return generationRows.toRow(first);
      const last = await kysely
        .selectFrom('generations')
        .selectAll()
        .where('request_id', '=', id)
        .where('background', '=', 1)
        .orderBy('created_at_ms', 'desc')
        .limit(1)
        .executeTakeFirst();
      const columns = last ?? first;
      return columns && generationRows.toRow(columns);
    },
  };
}
