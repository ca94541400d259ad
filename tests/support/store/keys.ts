import { keyResource } from '../../../src/resources/keys.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import type { KeysTable } from '../../../src/store/tables.ts';

/** Makes rows for tests of the database itself: `keys` is the smallest table. */
export function keyColumns(hash: string): KeysTable {
  const row = keyResource.newRow({ hash, label: 'label', name: 'name', createdAtMs: 1, workspaceId: 'workspace' });
  return { ...keyResource.rows.toColumns(row), deleted_at_ms: null };
}

export const insertKey = (database: Pick<Database, 'kysely'>, hash: string) =>
  database.kysely.insertInto('keys').values(keyColumns(hash)).execute();

export async function readHashes(database: Database): Promise<readonly string[]> {
  const rows = await database.kysely.selectFrom('keys').select('hash').orderBy('hash').execute();
  return rows.map(({ hash }) => hash);
}
