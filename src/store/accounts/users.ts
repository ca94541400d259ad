import { sql } from 'kysely';
import type { Database } from '../engine/database.ts';
import type { Page, PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';

/**
 * Users are the ids that other rows refer to: the owner of a key, the member of a workspace, the subject of a
 * guardrail.
 */
export interface UserStore {
  /** Lists each user once, in the order of their ids. */
  list(window: PageWindow): Promise<Page<string>>;
}

const ALL_USERS = sql<{ readonly user_id: string }>`
  select creator_user_id as user_id from keys where creator_user_id is not null and deleted_at_ms is null
  union select user_id from workspace_members
  union select subject_id from guardrail_assignments where subject_kind = 'member'`;

export function createUserStore({ database: { kysely } }: { readonly database: Database }): UserStore {
  return {
    async list({ offset, limit }) {
      const [page, count] = await Promise.all([
        sql<{ readonly user_id: string }>`
          select user_id from (${ALL_USERS}) as users order by user_id limit ${limit} offset ${offset}`.execute(kysely),
        sql<{ readonly count: number }>`select count(*) as count from (${ALL_USERS}) as users`.execute(kysely),
      ]);
      return { rows: page.rows.map((row) => row.user_id), totalCount: numberOf(count.rows[0]?.count) };
    },
  };
}
