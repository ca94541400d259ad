import type { Database } from '../engine/database.ts';

const PREFIX = 'key:';

/** Keys that spent something since a day began, Unix ms. A long read. */
export function createSpenders({ reports }: Database): (sinceMs: number, limit: number) => Promise<readonly string[]> {
  return async (sinceMs, limit) => {
    const rows = await reports
      .selectFrom('spend')
      .select('subject')
      .distinct()
      .where('subject', '>=', PREFIX)
      .where('subject', '<', 'key;')
      .where('day_start_ms', '>=', sinceMs)
      .limit(limit)
      .execute();
    return rows.map(({ subject }) => subject.slice(PREFIX.length));
  };
}
