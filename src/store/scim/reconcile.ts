import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import type { MembershipSourceRow } from './columns.ts';
import { chunksOf } from './roles.ts';

type Wanted = Pick<MembershipSourceRow, 'workspaceId' | 'userId' | 'source' | 'role'>;
type Present = Wanted & Pick<MembershipSourceRow, 'id'>;

interface MembershipChanges {
  readonly grant: readonly Wanted[];
  readonly revoke: readonly Present[];
}

/** What has to change so that there is what mappings and groups say. A changed role is revoked and granted. @spec scim-8 */
function reduceMemberships(present: readonly Present[], wanted: readonly Wanted[]): MembershipChanges {
  const keyOf = ({ workspaceId, userId, source, role }: Wanted): string => `${source} ${workspaceId} ${userId} ${role}`;
  const [has, needs] = [new Set(present.map(keyOf)), new Set(wanted.map(keyOf))];
  return {
    grant: wanted.filter((each) => !has.has(keyOf(each))),
    revoke: present.filter((each) => !needs.has(keyOf(each))),
  };
}

const STATEMENT_ROWS = 500;

/** Makes memberships of these users what mappings and groups say. Memberships that were given by hand stay. */
export async function reconcileUsers(
  transaction: Transaction<Tables>,
  userIds: readonly string[],
  nowMs: number,
): Promise<void> {
  for (const ids of chunksOf(userIds)) await reconcileSome(transaction, ids, nowMs);
}

async function reconcileSome(
  transaction: Transaction<Tables>,
  userIds: readonly string[],
  nowMs: number,
): Promise<void> {
  const present = await transaction
    .selectFrom('membership_sources')
    .selectAll()
    .where('user_id', 'in', userIds)
    .where('source', 'like', 'mapping:%')
    .execute();
  const wanted = await transaction
    .selectFrom('scim_group_mappings as mapping')
    .innerJoin('scim_group_members as member', 'member.group_id', 'mapping.group_id')
    .innerJoin('users', 'users.id', 'member.user_id')
    .innerJoin('workspaces', 'workspaces.id', 'mapping.workspace_id')
    .select(['mapping.id', 'mapping.workspace_id', 'mapping.role', 'member.user_id'])
    .where('member.user_id', 'in', userIds)
    .where('users.disabled_at_ms', 'is', null)
    .where('users.deleted_at_ms', 'is', null)
    .where('workspaces.deleted_at_ms', 'is', null)
    .execute();
  const { grant, revoke } = reduceMemberships(
    present.map(({ id, workspace_id: workspaceId, user_id: userId, source, role }) => ({
      id,
      workspaceId,
      userId,
      source,
      role,
    })),
    wanted.map(({ id, workspace_id: workspaceId, user_id: userId, role }) => ({
      workspaceId,
      userId,
      source: `mapping:${id}`,
      role,
    })),
  );
  for (const ids of chunksOf(revoke.map(({ id }) => id)))
    await transaction.deleteFrom('membership_sources').where('id', 'in', ids).execute();
  const rows = grant.map(({ workspaceId, userId, source, role }) => ({
    id: randomUUID(),
    workspace_id: workspaceId,
    user_id: userId,
    source,
    role,
    created_at_ms: nowMs,
  }));
  for (let from = 0; from < rows.length; from += STATEMENT_ROWS)
    await transaction
      .insertInto('membership_sources')
      .values(rows.slice(from, from + STATEMENT_ROWS))
      .execute();
}
