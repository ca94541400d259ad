import type { Database } from '../engine/database.ts';

/** Slugs of models that requests had since a time, Unix ms. A long read. */
export function createUsedModels({ reports }: Database): (sinceMs: number) => Promise<ReadonlySet<string>> {
  return async (sinceMs) => {
    const found = new Set<string>();
    for (const table of ['usage_daily', 'usage_hourly'] as const)
      for (const { model } of await reports
        .selectFrom(table)
        .select('model')
        .distinct()
        .where('start_ms', '>=', sinceMs)
        .execute())
        found.add(model);
    return found;
  };
}
