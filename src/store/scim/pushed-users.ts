import type { Database } from '../engine/database.ts';
import type { Page, PageWindow } from '../engine/page.ts';
import type { DisabledBy } from '../people/columns.ts';
import { numberOf } from '../portable.ts';

/** A user that an identity provider made or took over. */
export interface PushedUser {
  readonly id: string;
  readonly userName: string;
  readonly externalId: string | null;
  readonly email: string;
  readonly disabledAtMs: number | null;
  readonly disabledBy: DisabledBy | null;
  /** By the provider; the user can come back under its id. */
  readonly deletedAtMs: number | null;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  readonly groups: number;
}

/** By name, those that the provider deleted among them. @spec scim-16 */
export async function listPushedUsers(
  { kysely }: Pick<Database, 'kysely'>,
  { offset, limit }: PageWindow,
): Promise<Page<PushedUser>> {
  const found = kysely.selectFrom('scim_users').innerJoin('users', 'users.id', 'scim_users.user_id');
  const [rows, { count }] = await Promise.all([
    found
      .select(['users.id', 'users.email', 'users.disabled_at_ms', 'users.disabled_by'])
      .select(['scim_users.user_name', 'scim_users.external_id', 'scim_users.deleted_at_ms'])
      .select(['scim_users.created_at_ms', 'scim_users.modified_at_ms'])
      .select((select) =>
        select
          .selectFrom('scim_group_members')
          .whereRef('scim_group_members.user_id', '=', 'scim_users.user_id')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .as('groups'),
      )
      .orderBy('scim_users.user_name_key')
      .limit(limit)
      .offset(offset)
      .execute(),
    found.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ]);
  return {
    rows: rows.map((row) => ({
      id: row.id,
      userName: row.user_name,
      externalId: row.external_id,
      email: row.email,
      disabledAtMs: timeOf(row.disabled_at_ms),
      disabledBy: row.disabled_by,
      deletedAtMs: timeOf(row.deleted_at_ms),
      createdAtMs: numberOf(row.created_at_ms),
      modifiedAtMs: numberOf(row.modified_at_ms),
      groups: numberOf(row.groups ?? 0),
    })),
    totalCount: numberOf(count),
  };
}

function timeOf(value: number | null): number | null {
  return value === null ? null : numberOf(value);
}
