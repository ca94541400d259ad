import { sql } from 'kysely';
import { INTERNAL_ORIGINS } from '../../canonical/generation-origin.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** How many requests of callers a session had. */
export const TURN_RANGES = ['1-turn', '2-9-turns', '10-49-turns', '50-plus-turns'] as const;
export type TurnRange = (typeof TURN_RANGES)[number];

export interface SessionCostSearch {
  /** A half-open range, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly appUrl?: string | undefined;
  readonly model?: string | undefined;
  readonly turnRange?: TurnRange | undefined;
  /** Cells of fewer keys are left out. */
  readonly keysMin: number;
  readonly limit: number;
  readonly offset: number;
}

/** Sessions of one application with one model. */
export interface SessionCost {
  /** `''`: the requests named none. */
  readonly appUrl: string;
  readonly model: string;
  readonly turnRange: TurnRange;
  readonly sessions: number;
  readonly medianNanoUsd: number;
}

/** Reads what sessions cost: the cells with the most sessions first. */
export type ReadSessionCosts = (search: SessionCostSearch) => Promise<readonly SessionCost[]>;

/**
 * A request without a session is a session of its own. What the gateway made for itself is left out, and so are sessions
 * with a request of unknown price. The median is exact: the middle of all sessions in order, or between the two in the middle.
 */
export function createSessionCosts({ reports }: Pick<Database, 'reports'>): ReadSessionCosts {
  return async ({ fromMs, toMs, appUrl, model, turnRange, keysMin, limit, offset }) => {
    const only = [
      ...(appUrl === undefined ? [] : [sql`and coalesce(app_url, '') = ${appUrl}`]),
      ...(model === undefined ? [] : [sql`and model = ${model}`]),
    ];
    const range = turnRange === undefined ? sql`` : sql`where turn_range = ${turnRange}`;
    const { rows } = await sql<Readonly<Record<string, string | number | null>>>`
      with sessions as (
        select coalesce(app_url, '') as app, model, min(key_hash) as key_hash,
          sum(case when request_id = id then 1 else 0 end) as turns,
          sum(coalesce(list_cost_nano_usd, cost_nano_usd, 0)) as cost,
          sum(case when cost_nano_usd is null then 1 else 0 end) as unpriced
        from generations
        where created_at_ms >= ${fromMs} and created_at_ms < ${toMs} and status = 200
          and api_type in ('chat', 'messages', 'responses')
          and (origin is null or origin not in (${sql.join(INTERNAL_ORIGINS)})) ${sql.join(only, sql` `)}
        group by coalesce(app_url, ''), model, workspace_id, coalesce(session_id, id)
      ), ranges as (
        select app, model, key_hash, cost,
          case when turns = 1 then '1-turn' when turns < 10 then '2-9-turns' when turns < 50 then '10-49-turns'
            else '50-plus-turns' end as turn_range
        from sessions where turns > 0 and unpriced = 0
      ), places as (
        select app, model, key_hash, cost, turn_range,
          row_number() over (partition by app, model, turn_range order by cost) as place,
          count(*) over (partition by app, model, turn_range) as sessions
        from ranges ${range}
      )
      select app, model, turn_range, max(sessions) as sessions,
        cast(avg(case when place in ((sessions + 1) / 2, (sessions + 2) / 2) then cost end) as double precision) as median
      from places
      group by app, model, turn_range
      having count(distinct key_hash) >= ${keysMin}
      order by max(sessions) desc, app, model, turn_range
      limit ${limit} offset ${offset}`.execute(reports);
    return rows.map((row) => ({
      appUrl: String(row['app'] ?? ''),
      model: String(row['model'] ?? ''),
      turnRange: TURN_RANGES.find((known) => known === row['turn_range']) ?? '1-turn',
      sessions: numberOf(row['sessions']),
      medianNanoUsd: numberOf(row['median']),
    }));
  };
}
