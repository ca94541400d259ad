import type { Database } from './database.ts';
import type { KeysTable } from './tables.ts';

/** Rows for tests of the database itself: `keys` is the smallest table that everybody has. */
export function keyColumns(hash: string): KeysTable {
  return {
    hash,
    label: 'label',
    name: 'name',
    kind: 'normal',
    disabled: 0,
    created_at_ms: 1,
    updated_at_ms: null,
    expires_at_ms: null,
    limit_nano_usd: null,
    limit_reset: null,
    include_byok_in_limit: 0,
    creator_user_id: null,
    workspace_id: 'workspace',
    default_provider_preferences: null,
    default_plugins: null,
    deleted_at_ms: null,
  };
}

export const insertKey = (database: Database, hash: string) =>
  database.kysely.insertInto('keys').values(keyColumns(hash)).execute();

export async function readHashes(database: Database): Promise<readonly string[]> {
  const rows = await database.kysely.selectFrom('keys').select('hash').orderBy('hash').execute();
  return rows.map(({ hash }) => hash);
}
