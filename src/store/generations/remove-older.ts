import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/**
 * Deletes at most `limit` of the rows that are older than a time, Unix ms, the oldest first. It is tried again later, and so
 * waits for no other writer.
 * @returns how many
 */
export async function removeOlder(
  { background }: Pick<Database, 'background'>,
  table: 'generation_content' | 'generation_routes',
  atMs: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where generation_id in (
      select generation_id from ${sql.table(table)} where created_at_ms < ${atMs} order by created_at_ms limit ${limit}
    )`.execute(background);
  return numberOf(Number(numAffectedRows ?? 0));
}
