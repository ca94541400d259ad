import { sql } from 'kysely';
import { numberOf } from '../portable.ts';
import type { Database } from './database.ts';

/** The size of the database, bytes. */
export async function sizeOf({ engine, reports }: Pick<Database, 'engine' | 'reports'>): Promise<number> {
  const size =
    engine === 'sqlite'
      ? sql<Size>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
      : sql<Size>`select pg_database_size(current_database()) as bytes`;
  const { rows } = await size.execute(reports);
  return numberOf(rows[0]?.bytes);
}

interface Size {
  readonly bytes: number | string;
}
