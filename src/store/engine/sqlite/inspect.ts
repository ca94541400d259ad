import { DatabaseSync } from 'node:sqlite';
import { refuseNewer } from '../migrate.ts';

/**
 * Inspects an embedded database without changing it, also while a gateway uses it. It does not read every page: of a
 * damaged file it finds damage to the schema and its tables' roots.
 * @throws Error in one sentence, when a gateway of this version could not start on it
 */
export function inspectSqlite(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    if (!tables.some(({ name }) => name === 'schema_migrations')) return;
    const applied = database.prepare('select name from schema_migrations order by name').all();
    refuseNewer(applied.map(({ name }) => ({ name: String(name) })));
  } finally {
    database.close();
  }
}
