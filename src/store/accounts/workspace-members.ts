import { memberResource, type MemberRow } from '../../resources/workspace-parts.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';

const { toColumns, toRow } = memberResource.rows;

/** The source of members that people added; others have that of a group's mapping. */
const MANUAL = 'manual';

export interface MemberStore {
  /** Lists the oldest first. */
  list(workspaceId: string, window: PageWindow): Promise<Page<MemberRow>>;
  /** Finds the members among these users. */
  findAmong(workspaceId: string, userIds: readonly string[]): Promise<readonly MemberRow[]>;
  /** Inserts members and leaves existing ones as they are. Returns how many are new. */
  insert(rows: readonly MemberRow[]): Promise<number>;
  /** Returns the member after the change; `undefined`: it is none. */
  setRole(workspaceId: string, userId: string, role: MemberRow['role']): Promise<MemberRow | undefined>;
  /** Returns how many of these were members. */
  remove(workspaceId: string, userIds: readonly string[]): Promise<number>;
  /** Finds those of these users that a group's mapping makes members. */
  heldByGroups(workspaceId: string, userIds: readonly string[]): Promise<readonly string[]>;
  /** Finds those of these users that own a key of the workspace that is active at this time. */
  ownersOfActiveKeys(workspaceId: string, userIds: readonly string[], atMs: number): Promise<readonly string[]>;
}

export function createMemberStore({ database }: { readonly database: Database }): MemberStore {
  const { kysely } = database;
  const membersOf = (workspaceId: string) =>
    kysely.selectFrom('workspace_members').where('workspace_id', '=', workspaceId);
  return {
    list: (workspaceId, window) =>
      fetchPage(
        membersOf(workspaceId),
        window,
        (found) => found.selectAll().orderBy('created_at_ms').orderBy('user_id'),
        toRow,
      ),
    async findAmong(workspaceId, userIds) {
      const rows = await membersOf(workspaceId)
        .selectAll()
        .where('user_id', 'in', userIds)
        .orderBy('user_id')
        .execute();
      return rows.map(toRow);
    },
    async insert(rows) {
      const inserted = await kysely
        .insertInto('membership_sources')
        .values(rows.map((row) => ({ ...toColumns(row), source: MANUAL })))
        .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id', 'source']).doNothing())
        .returning('id')
        .execute();
      return inserted.length;
    },
    async setRole(workspaceId, userId, role) {
      await kysely
        .updateTable('membership_sources')
        .set({ role })
        .where('workspace_id', '=', workspaceId)
        .where('user_id', '=', userId)
        .where('source', '=', MANUAL)
        .execute();
      const columns = await membersOf(workspaceId).selectAll().where('user_id', '=', userId).executeTakeFirst();
      return columns && toRow(columns);
    },
    async remove(workspaceId, userIds) {
      const removed = await kysely
        .deleteFrom('membership_sources')
        .where('source', '=', MANUAL)
        .where('workspace_id', '=', workspaceId)
        .where('user_id', 'in', userIds)
        .returning('id')
        .execute();
      return removed.length;
    },
    heldByGroups: (workspaceId, userIds) => heldByGroups(database, workspaceId, userIds),
    ownersOfActiveKeys: (workspaceId, userIds, atMs) => ownersOfActiveKeys(database, workspaceId, userIds, atMs),
  };
}

async function heldByGroups(
  { kysely }: Database,
  workspaceId: string,
  userIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await kysely
    .selectFrom('membership_sources')
    .select('user_id')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .where('user_id', 'in', userIds)
    .where('source', '<>', MANUAL)
    .orderBy('user_id')
    .execute();
  return rows.map(({ user_id: id }) => id);
}

async function ownersOfActiveKeys(
  { kysely }: Database,
  workspaceId: string,
  userIds: readonly string[],
  atMs: number,
): Promise<readonly string[]> {
  const rows = await kysely
    .selectFrom('keys')
    .select('creator_user_id')
    .distinct()
    .where('workspace_id', '=', workspaceId)
    .where('creator_user_id', 'in', userIds)
    .where('deleted_at_ms', 'is', null)
    .where('disabled', '=', 0)
    .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', atMs)]))
    .orderBy('creator_user_id')
    .execute();
  return rows.flatMap(({ creator_user_id }) => creator_user_id ?? []);
}
