import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from './columns.ts';

export interface GenerationStore {
  find(id: string): Promise<GenerationRow | undefined>;
}

export function createGenerationStore({ database }: { readonly database: Pick<Database, 'kysely'> }): GenerationStore {
  return {
    async find(id) {
      const columns = await database.kysely
        .selectFrom('generations')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      return columns && generationRows.toRow(columns);
    },
  };
}
