import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { userRows, type UserRow } from '../people/columns.ts';
import { disableUser, insertUser, PEOPLE_LOCK, type Ended } from '../people/people.ts';
import { reconcileUsers } from './reconcile.ts';
import { chunksOf, setRole } from './roles.ts';
import {
  scimGroupRows,
  scimMappingRows,
  scimUserRows,
  type ScimGroupRow,
  type ScimMappingRow,
  type ScimUserRow,
} from './columns.ts';

/** A user that an identity provider made or took over, with what the organization has of it. */
export interface Provisioned {
  readonly row: ScimUserRow;
  readonly user: UserRow;
}

export interface GroupOfUser {
  readonly id: string;
  readonly displayName: string;
}

/** What one request of an identity provider changes: all of it or nothing, one request after the other. */
export interface ScimWriter {
  findUser(id: string): Promise<Provisioned | undefined>;
  /** Also a deleted one. */
  findUserBy(column: 'user_id' | 'user_name_key' | 'external_id', value: string): Promise<ScimUserRow | undefined>;
  findPerson(by: 'id' | 'email_key', value: string): Promise<UserRow | undefined>;
  insertPerson(user: UserRow, usersMax: number): Promise<'inserted' | 'taken' | 'full'>;
  updatePerson(id: string, changes: Parameters<typeof userRows.toChanges>[0]): Promise<void>;
  /** @returns whether one of these users stays what it is, as the last admin that may sign in */
  setRole(role: UserRow['role'], userIds: readonly string[], nowMs: number): Promise<boolean>;
  disablePerson(id: string, atMs: number): Promise<Ended | 'unknown' | 'last admin'>;
  saveUser(row: ScimUserRow, isNew: boolean): Promise<void>;
  findGroup(id: string): Promise<ScimGroupRow | undefined>;
  findGroupByName(displayKey: string): Promise<ScimGroupRow | undefined>;
  saveGroup(row: ScimGroupRow, isNew: boolean): Promise<void>;
  /** With its members and its mappings. */
  deleteGroup(id: string): Promise<void>;
  membersOf(groupId: string): Promise<ReadonlySet<string>>;
  changeMembers(groupId: string, added: readonly string[], removed: readonly string[]): Promise<void>;
  /** Those of these ids that are users here and not deleted. */
  knownAmong(ids: readonly string[]): Promise<ReadonlySet<string>>;
  groupsOf(userId: string): Promise<readonly GroupOfUser[]>;
  /** Those of these users that are members of a group with this name or external id. */
  inGroup(named: string, userIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Makes memberships of workspaces what mappings and groups say. */
  reconcile(userIds: readonly string[], nowMs: number): Promise<void>;
}

export interface ScimStore {
  write<Value>(task: (writer: ScimWriter) => Promise<Value>): Promise<Value>;
  /** Whether an identity provider holds a user. */
  holds(userId: string): Promise<boolean>;
  /** Users in the order of their making, those with an equal column or all. */
  listUsers(
    equal: { readonly column: 'user_name_key' | 'external_id' | 'user_id'; readonly value: string } | undefined,
    rowsMax: number,
  ): Promise<readonly Provisioned[]>;
  listGroups(
    equal: { readonly column: 'display_key' | 'external_id' | 'id'; readonly value: string } | undefined,
    rowsMax: number,
  ): Promise<readonly ScimGroupRow[]>;
  membersOf(groupId: string): Promise<readonly { readonly id: string; readonly userName: string }[]>;
  /** Groups that have this member. */
  groupIdsOf(userId: string): Promise<ReadonlySet<string>>;
  groupsOf(userId: string): Promise<readonly GroupOfUser[]>;
  groupPage(window: PageWindow): Promise<Page<ScimGroupRow & { readonly memberCount: number }>>;
  mappings(window: PageWindow): Promise<Page<ScimMappingRow>>;
  findMapping(id: string): Promise<ScimMappingRow | undefined>;
  /** @returns false where the pair has one */
  insertMapping(row: ScimMappingRow, nowMs: number): Promise<boolean>;
  updateMapping(id: string, role: ScimMappingRow['role'], nowMs: number): Promise<ScimMappingRow | undefined>;
  /** @param keepsMembers makes its members manual ones, with their role */
  deleteMapping(id: string, keepsMembers: boolean, nowMs: number): Promise<boolean>;
}

const STATEMENT_ROWS = 500;

export function createScimStore({ database }: { readonly database: Database }): ScimStore {
  const { kysely } = database;
  const provisioned = () =>
    kysely.selectFrom('scim_users').selectAll('scim_users').where('scim_users.deleted_at_ms', 'is', null);
  return {
    write: (task) => database.runAlone(PEOPLE_LOCK, (transaction) => task(createWriter(transaction))),
    async holds(userId) {
      return (await provisioned().where('user_id', '=', userId).executeTakeFirst()) !== undefined;
    },
    async listUsers(equal, rowsMax) {
      let query = provisioned();
      if (equal !== undefined) query = query.where(equal.column, '=', equal.value);
      const rows = await query.orderBy('created_at_ms').orderBy('user_id').limit(rowsMax).execute();
      return withPeople(kysely, rows.map(scimUserRows.toRow));
    },
    async listGroups(equal, rowsMax) {
      let query = kysely.selectFrom('scim_groups').selectAll();
      if (equal !== undefined) query = query.where(equal.column, '=', equal.value);
      const rows = await query.orderBy('created_at_ms').orderBy('id').limit(rowsMax).execute();
      return rows.map(scimGroupRows.toRow);
    },
    async membersOf(groupId) {
      const rows = await kysely
        .selectFrom('scim_group_members as member')
        .innerJoin('scim_users', 'scim_users.user_id', 'member.user_id')
        .select(['member.user_id', 'scim_users.user_name'])
        .where('member.group_id', '=', groupId)
        .orderBy('member.user_id')
        .execute();
      return rows.map(({ user_id: id, user_name: userName }) => ({ id, userName }));
    },
    async groupIdsOf(userId) {
      const rows = await kysely
        .selectFrom('scim_group_members')
        .select('group_id')
        .where('user_id', '=', userId)
        .execute();
      return new Set(rows.map(({ group_id: id }) => id));
    },
    groupsOf: (userId) => groupsOf(kysely, userId),
    async groupPage(window) {
      const page = await fetchPage(
        kysely.selectFrom('scim_groups'),
        window,
        (found) => found.selectAll().orderBy('created_at_ms').orderBy('id'),
        scimGroupRows.toRow,
      );
      const ids = page.rows.map(({ id }) => id);
      const counts =
        ids.length === 0
          ? []
          : await kysely
              .selectFrom('scim_group_members')
              .select(['group_id', ({ fn }) => fn.countAll<number>().as('count')])
              .where('group_id', 'in', ids)
              .groupBy('group_id')
              .execute();
      const countOf = new Map(counts.map(({ group_id: id, count }) => [id, numberOf(count)]));
      return { ...page, rows: page.rows.map((row) => ({ ...row, memberCount: countOf.get(row.id) ?? 0 })) };
    },
    ...createMappings(database),
  };
}

type Mappings = Pick<ScimStore, 'mappings' | 'findMapping' | 'insertMapping' | 'updateMapping' | 'deleteMapping'>;

function createMappings(database: Database): Mappings {
  const { kysely } = database;
  const usersOf = async (transaction: Transaction<Tables>, groupId: string): Promise<readonly string[]> => {
    const rows = await transaction
      .selectFrom('scim_group_members')
      .select('user_id')
      .where('group_id', '=', groupId)
      .execute();
    return rows.map(({ user_id: id }) => id);
  };
  const find = async (transaction: Transaction<Tables>, id: string): Promise<ScimMappingRow | undefined> => {
    const columns = await transaction
      .selectFrom('scim_group_mappings')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return columns && scimMappingRows.toRow(columns);
  };
  return {
    mappings: (window) =>
      fetchPage(
        kysely.selectFrom('scim_group_mappings'),
        window,
        (found) => found.selectAll().orderBy('created_at_ms').orderBy('id'),
        scimMappingRows.toRow,
      ),
    async findMapping(id) {
      const columns = await kysely
        .selectFrom('scim_group_mappings')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      return columns && scimMappingRows.toRow(columns);
    },
    insertMapping: (row, nowMs) =>
      database.runAlone(PEOPLE_LOCK, async (transaction) => {
        const inserted = await transaction
          .insertInto('scim_group_mappings')
          .values(scimMappingRows.toColumns(row))
          .onConflict((conflict) => conflict.columns(['group_id', 'workspace_id']).doNothing())
          .returning('id')
          .execute();
        if (inserted.length === 0) return false;
        await reconcileUsers(transaction, await usersOf(transaction, row.groupId), nowMs);
        return true;
      }),
    updateMapping: (id, role, nowMs) =>
      database.runAlone(PEOPLE_LOCK, async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return undefined;
        await transaction
          .updateTable('scim_group_mappings')
          .set({ role, updated_at_ms: nowMs })
          .where('id', '=', id)
          .execute();
        await reconcileUsers(transaction, await usersOf(transaction, before.groupId), nowMs);
        return { ...before, role, updatedAtMs: nowMs };
      }),
    deleteMapping: (id, keepsMembers, nowMs) =>
      database.runAlone(PEOPLE_LOCK, async (transaction) => {
        const before = await find(transaction, id);
        if (before === undefined) return false;
        if (keepsMembers) await keepMembers(transaction, id);
        await transaction.deleteFrom('scim_group_mappings').where('id', '=', id).execute();
        await reconcileUsers(transaction, await usersOf(transaction, before.groupId), nowMs);
        return true;
      }),
  };
}

/** Those that are members by hand already stay what they are. */
async function keepMembers(transaction: Transaction<Tables>, mappingId: string): Promise<void> {
  const held = await transaction
    .selectFrom('membership_sources')
    .selectAll()
    .where('source', '=', `mapping:${mappingId}`)
    .execute();
  for (let from = 0; from < held.length; from += STATEMENT_ROWS)
    await transaction
      .insertInto('membership_sources')
      .values(held.slice(from, from + STATEMENT_ROWS).map((row) => ({ ...row, id: randomUUID(), source: 'manual' })))
      .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id', 'source']).doNothing())
      .execute();
}

async function withPeople(
  kysely: Pick<Database['kysely'], 'selectFrom'>,
  rows: readonly ScimUserRow[],
): Promise<readonly Provisioned[]> {
  const found = new Map<string, UserRow>();
  for (let from = 0; from < rows.length; from += STATEMENT_ROWS) {
    const ids = rows.slice(from, from + STATEMENT_ROWS).map(({ userId }) => userId);
    for (const columns of await kysely.selectFrom('users').selectAll().where('id', 'in', ids).execute())
      found.set(columns.id, userRows.toRow(columns));
  }
  return rows.flatMap((row) => {
    const user = found.get(row.userId);
    return user === undefined ? [] : [{ row, user }];
  });
}

async function groupsOf(
  kysely: Pick<Database['kysely'], 'selectFrom'>,
  userId: string,
): Promise<readonly GroupOfUser[]> {
  const rows = await kysely
    .selectFrom('scim_group_members as member')
    .innerJoin('scim_groups', 'scim_groups.id', 'member.group_id')
    .select(['scim_groups.id', 'scim_groups.display_name'])
    .where('member.user_id', '=', userId)
    .orderBy('scim_groups.display_name')
    .execute();
  return rows.map(({ id, display_name: displayName }) => ({ id, displayName }));
}

function createWriter(transaction: Transaction<Tables>): ScimWriter {
  const find = (column: 'user_id' | 'user_name_key' | 'external_id', value: string) =>
    transaction.selectFrom('scim_users').selectAll().where(column, '=', value).executeTakeFirst();
  return {
    async findUser(id) {
      const columns = await find('user_id', id);
      if (columns === undefined || columns.deleted_at_ms !== null) return undefined;
      const [found] = await withPeople(transaction, [scimUserRows.toRow(columns)]);
      return found;
    },
    async findUserBy(column, value) {
      const columns = await find(column, value);
      return columns && scimUserRows.toRow(columns);
    },
    async findPerson(by, value) {
      const columns = await transaction
        .selectFrom('users')
        .selectAll()
        .where(by, '=', value)
        .where('deleted_at_ms', 'is', null)
        .executeTakeFirst();
      return columns && userRows.toRow(columns);
    },
    insertPerson: (user, usersMax) => insertUser(transaction, user, usersMax),
    setRole: (role, userIds, nowMs) => setRole(transaction, role, userIds, nowMs),
    async updatePerson(id, changes) {
      await transaction.updateTable('users').set(userRows.toChanges(changes)).where('id', '=', id).execute();
    },
    disablePerson: (id, atMs) => disableUser(transaction, id, 'scim', atMs),
    async saveUser(row, isNew) {
      const columns = scimUserRows.toColumns(row);
      if (isNew) await transaction.insertInto('scim_users').values(columns).execute();
      else await transaction.updateTable('scim_users').set(columns).where('user_id', '=', row.userId).execute();
    },
    ...createGroupWriter(transaction),
  };
}

function createGroupWriter(
  transaction: Transaction<Tables>,
): Omit<
  ScimWriter,
  'findUser' | 'findUserBy' | 'findPerson' | 'insertPerson' | 'updatePerson' | 'setRole' | 'disablePerson' | 'saveUser'
> {
  const find = async (column: 'id' | 'display_key', value: string) => {
    const columns = await transaction
      .selectFrom('scim_groups')
      .selectAll()
      .where(column, '=', value)
      .executeTakeFirst();
    return columns && scimGroupRows.toRow(columns);
  };
  return {
    findGroup: (id) => find('id', id),
    findGroupByName: (displayKey) => find('display_key', displayKey),
    async saveGroup(row, isNew) {
      const columns = scimGroupRows.toColumns(row);
      if (isNew) await transaction.insertInto('scim_groups').values(columns).execute();
      else await transaction.updateTable('scim_groups').set(columns).where('id', '=', row.id).execute();
    },
    async deleteGroup(id) {
      await transaction.deleteFrom('scim_group_members').where('group_id', '=', id).execute();
      await transaction.deleteFrom('scim_group_mappings').where('group_id', '=', id).execute();
      await transaction.deleteFrom('scim_groups').where('id', '=', id).execute();
    },
    async membersOf(groupId) {
      const rows = await transaction
        .selectFrom('scim_group_members')
        .select('user_id')
        .where('group_id', '=', groupId)
        .execute();
      return new Set(rows.map(({ user_id: id }) => id));
    },
    async changeMembers(groupId, added, removed) {
      for (const ids of chunksOf(removed))
        await transaction
          .deleteFrom('scim_group_members')
          .where('group_id', '=', groupId)
          .where('user_id', 'in', ids)
          .execute();
      for (const ids of chunksOf(added))
        await transaction
          .insertInto('scim_group_members')
          .values(ids.map((id) => ({ group_id: groupId, user_id: id })))
          .execute();
    },
    knownAmong: (ids) => knownAmong(transaction, ids),
    groupsOf: (userId) => groupsOf(transaction, userId),
    inGroup: (named, userIds) => inGroup(transaction, named, userIds),
    reconcile: (userIds, nowMs) => reconcileUsers(transaction, userIds, nowMs),
  };
}

async function knownAmong(transaction: Transaction<Tables>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const some of chunksOf(ids))
    for (const { user_id: id } of await transaction
      .selectFrom('scim_users')
      .select('user_id')
      .where('user_id', 'in', some)
      .where('deleted_at_ms', 'is', null)
      .execute())
      known.add(id);
  return known;
}

async function inGroup(
  transaction: Transaction<Tables>,
  named: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const ids of chunksOf(userIds))
    for (const { user_id: id } of await transaction
      .selectFrom('scim_group_members as member')
      .innerJoin('scim_groups', 'scim_groups.id', 'member.group_id')
      .select('member.user_id')
      .where((is) => is.or([is('scim_groups.display_name', '=', named), is('scim_groups.external_id', '=', named)]))
      .where('member.user_id', 'in', ids)
      .execute())
      found.add(id);
  return found;
}
