import type { Database } from '../engine/database.ts';
import { forgetUsers, PEOPLE_LOCK } from '../people/people.ts';
import { numberOf } from '../portable.ts';
import { scimRequestRows, type ScimRequestRow } from './columns.ts';

export interface ScimOverview {
  readonly users: number;
  readonly activeUsers: number;
  readonly groups: number;
  readonly mappings: number;
  readonly lastRequest: ScimRequestRow | undefined;
  readonly lastRefusal: ScimRequestRow | undefined;
}

const REFUSED = 400;

export async function readScimOverview({ kysely }: Pick<Database, 'kysely'>): Promise<ScimOverview> {
  const users = kysely
    .selectFrom('scim_users')
    .innerJoin('users', 'users.id', 'scim_users.user_id')
    .where('scim_users.deleted_at_ms', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count'));
  const groups = kysely.selectFrom('scim_groups').select(({ fn }) => fn.countAll<number>().as('count'));
  const mappings = kysely.selectFrom('scim_group_mappings').select(({ fn }) => fn.countAll<number>().as('count'));
  const newest = kysely.selectFrom('scim_requests').selectAll().orderBy('at_ms', 'desc').limit(1);
  const [all, active, ofGroups, ofMappings, request, refusal] = await Promise.all([
    users.executeTakeFirstOrThrow(),
    users.where('users.disabled_at_ms', 'is', null).executeTakeFirstOrThrow(),
    groups.executeTakeFirstOrThrow(),
    mappings.executeTakeFirstOrThrow(),
    newest.executeTakeFirst(),
    newest.where('status', '>=', REFUSED).executeTakeFirst(),
  ]);
  return {
    users: numberOf(all.count),
    activeUsers: numberOf(active.count),
    groups: numberOf(ofGroups.count),
    mappings: numberOf(ofMappings.count),
    lastRequest: request && scimRequestRows.toRow(request),
    lastRefusal: refusal && scimRequestRows.toRow(refusal),
  };
}

/**
 * Forgets users that an identity provider deleted before a time; one that an admin enabled again stays. @spec scim-13
 * @returns how many there were
 */
export async function eraseDeleted(
  database: Pick<Database, 'runAlone'>,
  beforeMs: number,
  nowMs: number,
  rowsMax: number,
): Promise<number> {
  return database.runAlone(PEOPLE_LOCK, async (transaction) => {
    const rows = await transaction
      .selectFrom('scim_users')
      .innerJoin('users', 'users.id', 'scim_users.user_id')
      .select('scim_users.user_id')
      .where('scim_users.deleted_at_ms', '<=', beforeMs)
      .where('users.disabled_at_ms', 'is not', null)
      .limit(rowsMax)
      .execute();
    if (rows.length > 0)
      await forgetUsers(
        transaction,
        rows.map(({ user_id: id }) => id),
        nowMs,
      );
    return rows.length;
  });
}
