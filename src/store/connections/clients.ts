import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import { mcpClientRows, type McpClientRow } from './columns.ts';

/** Programs that registered themselves. */
export interface McpClientStore {
  /**
   * Inserts a client, and deletes those from before `unusedBeforeMs` that no person agreed to.
   * @returns false where there are as many as may be
   */
  insert(row: McpClientRow, unusedBeforeMs: number, clientsMax: number): Promise<boolean>;
  find(id: string): Promise<McpClientRow | undefined>;
  /** Notes that a person agreed to it. */
  used(id: string, atMs: number): Promise<void>;
}

export function createMcpClientStore({ database }: { readonly database: Database }): McpClientStore {
  const { kysely } = database;
  return {
    insert: (row, unusedBeforeMs, clientsMax) =>
      database.runAlone('mcp clients', async (transaction) => {
        await transaction
          .deleteFrom('mcp_clients')
          .where('used_at_ms', 'is', null)
          .where('created_at_ms', '<', unusedBeforeMs)
          .execute();
        const { count } = await transaction
          .selectFrom('mcp_clients')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow();
        if (numberOf(count) >= clientsMax) return false;
        await transaction.insertInto('mcp_clients').values(mcpClientRows.toColumns(row)).execute();
        return true;
      }),
    async find(id) {
      const columns = await kysely.selectFrom('mcp_clients').selectAll().where('id', '=', id).executeTakeFirst();
      return columns && mcpClientRows.toRow(columns);
    },
    async used(id, atMs) {
      await kysely
        .updateTable('mcp_clients')
        .set({ used_at_ms: atMs })
        .where('id', '=', id)
        .where('used_at_ms', 'is', null)
        .execute();
    },
  };
}
