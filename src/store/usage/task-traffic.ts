import { sql } from 'kysely';
import { INTERNAL_ORIGINS } from '../../canonical/generation-origin.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** Usage of one model for one kind of task. Money is nano-USD, also of calls with callers' credentials. */
export interface TaskTrafficGroup {
  /** Null: the requests were not classified. */
  readonly taskType: string | null;
  readonly model: string;
  readonly requests: number;
  readonly tokensPrompt: number;
  readonly tokensCompletion: number;
  readonly costNanoUsd: number;
  /** Tokens of prompts whose price is known, and their cost. */
  readonly pricedTokensPrompt: number;
  readonly promptNanoUsd: number;
}

/**
 * The largest groups, so many of them, are in one result. Callers choose names of pass-through models, so groups have
 * no limit.
 */
const GROUPS_MAX = 500;

export interface TaskTrafficStore {
  /** Reads responses to callers within a time: from, up to and not including, Unix ms. */
  read(fromMs: number, toMs: number): Promise<readonly TaskTrafficGroup[]>;
  /** Finds the time of the first record from a time on; `undefined`: there is none. */
  firstFrom(fromMs: number): Promise<number | undefined>;
}

export function createTaskTrafficStore({ reports }: Pick<Database, 'reports'>): TaskTrafficStore {
  return {
    async read(fromMs, toMs) {
      const { rows } = await sql<Readonly<Record<keyof TaskTrafficGroup, string | number | null>>>`
        select task_type as "taskType", model,
          count(*) as requests,
          sum(tokens_prompt) as "tokensPrompt",
          sum(tokens_completion) as "tokensCompletion",
          sum(coalesce(list_cost_nano_usd, cost_nano_usd, 0)) as "costNanoUsd",
          sum(case when cost_prompt_nano_usd is null then 0 else tokens_prompt end) as "pricedTokensPrompt",
          sum(coalesce(cost_prompt_nano_usd, 0)) as "promptNanoUsd"
        from generations
        where created_at_ms >= ${fromMs} and created_at_ms < ${toMs} and status = 200 and tokens_prompt > 0
          and (origin is null or origin not in (${sql.join(INTERNAL_ORIGINS)}))
        group by task_type, model
        order by requests desc, model
        limit ${GROUPS_MAX}`.execute(reports);
      return rows.map((row) => ({
        taskType: row.taskType === null ? null : String(row.taskType),
        model: String(row.model),
        requests: numberOf(row.requests),
        tokensPrompt: numberOf(row.tokensPrompt),
        tokensCompletion: numberOf(row.tokensCompletion),
        costNanoUsd: numberOf(row.costNanoUsd),
        pricedTokensPrompt: numberOf(row.pricedTokensPrompt),
        promptNanoUsd: numberOf(row.promptNanoUsd),
      }));
    },
    async firstFrom(fromMs) {
      const { rows } = await sql<{ readonly first: string | number | null }>`
        select min(created_at_ms) as first from generations where created_at_ms >= ${fromMs}`.execute(reports);
      const first = rows[0]?.first ?? null;
      return first === null ? undefined : numberOf(first);
    },
  };
}
