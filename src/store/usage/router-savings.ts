import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** The results of a router's choices. Money is nano-USD. */
export interface RouterSavings {
  readonly router: string;
  /** The chosen model, the task, or nothing for all together, as the query says. Null: unknown. */
  readonly of: string | null;
  readonly requests: number;
  /** Requests among these for which the cost of the most capable model is known. */
  readonly compared: number;
  /** The cost of those, including the router's own calls of models. */
  readonly costNanoUsd: number;
  /** Savings against the most capable model; negative: the choices cost more. */
  readonly savedNanoUsd: number;
}

export type SavingsBy = 'router' | 'model' | 'task_type';

/** Limits the models of a router, or the tasks of one, to the most used ones. */
const ROWS_MAX = 1_000;

/** Sums the requests that a router chose for, the most saved first. @param sinceMs Unix ms */
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
