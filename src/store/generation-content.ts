import type { Database } from './database.ts';
import { numberOf } from './portable.ts';
import type { GenerationContentTable } from './tables.ts';

export interface ContentRow {
  readonly generationId: string;
  readonly createdAtMs: number;
  readonly workspaceId: string;
  readonly sealed: string;
  readonly secretId: string;
}

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
        .values(rows.map(columnsOf))
        .onConflict((conflict) => conflict.column('generation_id').doNothing())
        .execute();
    },
    async find(generationId) {
      const columns = await kysely
        .selectFrom('generation_content')
        .selectAll()
        .where('generation_id', '=', generationId)
        .executeTakeFirst();
      return columns && rowOf(columns);
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

function columnsOf(row: ContentRow): GenerationContentTable {
  return {
    generation_id: row.generationId,
    created_at_ms: row.createdAtMs,
    workspace_id: row.workspaceId,
    sealed: row.sealed,
    secret_id: row.secretId,
  };
}

function rowOf(columns: GenerationContentTable): ContentRow {
  return {
    generationId: columns.generation_id,
    createdAtMs: numberOf(columns.created_at_ms),
    workspaceId: columns.workspace_id,
    sealed: columns.sealed,
    secretId: columns.secret_id,
  };
}
