import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** What a router's choices came to. Money is nano-USD. */
export interface RouterSavings {
  readonly router: string;
  /** Of one model that it chose; of one task; or of all together: as it was asked. Null: it was not told. */
  readonly of: string | null;
  readonly requests: number;
  /** Of these it is known what the most capable model would have cost. */
  readonly compared: number;
  /** What those came to, the router's own questions to models included. */
  readonly costNanoUsd: number;
  /** Against the most capable model; negative: so much more was spent. */
  readonly savedNanoUsd: number;
}

export type SavingsBy = 'router' | 'model' | 'task_type';

/** Models of a router, or tasks of one: the most used ones. */
const ROWS_MAX = 1_000;

/** Sums of requests that a router chose for, the most saved first. @param sinceMs Unix ms */
export async function sumRouterSavings(
  { reports }: Pick<Database, 'reports'>,
  sinceMs: number,
  by: SavingsBy,
): Promise<readonly RouterSavings[]> {
  const group = by === 'router' ? sql<null>`null` : sql.ref(by);
  const { rows } = await sql<Readonly<Record<keyof RouterSavings, string | number | null>>>`
    select router, ${group} as "of", count(*) as requests, count(saved_nano_usd) as compared,
      sum(case when saved_nano_usd is null then 0 else coalesce(list_cost_nano_usd, cost_nano_usd, 0) end) as "costNanoUsd",
      sum(coalesce(saved_nano_usd, 0)) as "savedNanoUsd"
    from generations
    where created_at_ms >= ${sinceMs} and router is not null
    group by router, ${by === 'router' ? sql`router` : sql.ref(by)}
    order by "savedNanoUsd" desc, requests desc
    limit ${ROWS_MAX}`.execute(reports);
  return rows.map((row) => ({
    router: String(row.router),
    of: row.of === null ? null : String(row.of),
    requests: numberOf(row.requests),
    compared: numberOf(row.compared),
    costNanoUsd: numberOf(row.costNanoUsd),
    savedNanoUsd: numberOf(row.savedNanoUsd),
  }));
}
