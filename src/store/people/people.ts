import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../engine/database.ts';
import type { Page, PageWindow } from '../engine/page.ts';
import { changeIssued } from '../accounts/issued-keys.ts';
import { revokeConnectionsOf } from '../connections/connections.ts';
import { suspendInternsOf } from '../interns/suspend.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';
import { userRows, type DisabledBy, type OrganizationRole, type UserRow } from './columns.ts';

const { toColumns, toRow, toChanges } = userRows;

export type UserChanges = Partial<
  Pick<UserRow, 'firstName' | 'lastName' | 'role' | 'passwordHash' | 'oidcSubject' | 'disabledAtMs' | 'disabledBy'>
> &
  Pick<UserRow, 'updatedAtMs'>;

/** A user, or an id that a key, a workspace or a guardrail names and that is no user's. */
export interface Person {
  readonly id: string;
  readonly user: UserRow | undefined;
  /** That are neither deleted nor disabled. */
  readonly keys: number;
}

export interface Membership {
  readonly workspaceId: string;
  readonly role: 'admin' | 'member';
}

/** What ended with a user. */
export interface Ended {
  /** Hashes of keys that were disabled. */
  readonly keys: readonly string[];
}

interface NewPassword {
  readonly passwordHash: string;
  readonly before?: string | null;
  readonly exceptSessionId?: string;
  readonly atMs: number;
}

/** Why a change was not made. */
export type Refusal = 'unknown' | 'last admin';

/** Users that are not deleted. */
export interface PeopleStore {
  find(id: string): Promise<UserRow | undefined>;
  findByEmail(emailKey: string): Promise<UserRow | undefined>;
  findByOidc(subject: string): Promise<UserRow | undefined>;
  /** Inserts a user unless its address is taken or there are as many as may be. */
  insert(row: UserRow, usersMax: number): Promise<'inserted' | 'taken' | 'full'>;
  /** Lists users by their addresses, then ids that others name. */
  list(window: PageWindow): Promise<Page<Person>>;
  membershipsOf(userId: string): Promise<readonly Membership[]>;
  /** Changes a user. The last admin that may sign in stays one. */
  update(id: string, changes: UserChanges): Promise<UserRow | Refusal>;
  seen(id: string, atMs: number): Promise<void>;
  /** Disables a user with its keys, those that they issued, its sessions, codes and links, in one commit. */
  disable(id: string, atMs: number): Promise<Ended | Refusal>;
  /** Deletes a user, with all that `disable` ends and its memberships. */
  remove(id: string, atMs: number): Promise<Ended | Refusal>;
  /**
   * Sets the password of a user, and ends its sessions, but for one, and its links, in one commit.
   * @param before the hash that was checked. Absent: whichever there is
   * @returns `undefined`: the user is unknown or disabled, or its password was changed meanwhile
   */
  setPassword(id: string, password: NewPassword): Promise<UserRow | undefined>;
}

/** Changes that keep a rule over several users wait for each other, in all processes. */
export const PEOPLE_LOCK = 'people';

export function createPeopleStore({ database }: { readonly database: Database }): PeopleStore {
  const { kysely } = database;
  const present = () => kysely.selectFrom('users').selectAll().where('deleted_at_ms', 'is', null);
  return {
    async find(id) {
      const columns = await present().where('id', '=', id).executeTakeFirst();
      return columns && toRow(columns);
    },
    async findByEmail(emailKey) {
      const columns = await present().where('email_key', '=', emailKey).executeTakeFirst();
      return columns && toRow(columns);
    },
    async findByOidc(subject) {
      const columns = await present().where('oidc_subject', '=', subject).executeTakeFirst();
      return columns && toRow(columns);
    },
    insert: (row, usersMax) => database.runAlone(PEOPLE_LOCK, (transaction) => insertUser(transaction, row, usersMax)),
    list: (window) => listPeople(kysely, window),
    async membershipsOf(userId) {
      const rows = await kysely
        .selectFrom('workspace_members')
        .innerJoin('workspaces', 'workspaces.id', 'workspace_members.workspace_id')
        .select(['workspace_members.workspace_id', 'workspace_members.role'])
        .where('workspace_members.user_id', '=', userId)
        .where('workspaces.deleted_at_ms', 'is', null)
        .execute();
      return rows.map(({ workspace_id: workspaceId, role }) => ({ workspaceId, role }));
    },
    update: (id, changes) =>
      database.runAlone(PEOPLE_LOCK, async (transaction) => {
        const before = await findUser(transaction, id);
        if (before === undefined) return 'unknown';
        const loses = before.role === 'org:admin' && changes.role === 'org:member';
        if (loses && (await isLastAdmin(transaction, before))) return 'last admin';
        await transaction.updateTable('users').set(toChanges(changes)).where('id', '=', id).execute();
        if (loses) await demote(transaction, [id]);
        return { ...before, ...changes };
      }),
    async seen(id, atMs) {
      await kysely.updateTable('users').set({ last_seen_at_ms: atMs }).where('id', '=', id).execute();
    },
    disable: (id, atMs) => database.runAlone(PEOPLE_LOCK, (transaction) => disableUser(transaction, id, 'admin', atMs)),
    remove: (id, atMs) =>
      database.runAlone(PEOPLE_LOCK, async (transaction) => {
        const ended = await disableUser(transaction, id, 'admin', atMs);
        if (typeof ended === 'string') return ended;
        await forgetUsers(transaction, [id], atMs);
        return ended;
      }),
    setPassword: (id, password) =>
      kysely.transaction().execute((transaction) => setPassword(transaction, id, password)),
  };
}

/** A sign-in locks the same row: it opens its session before this ends it, or finds another password. */
async function setPassword(
  transaction: Transaction<Tables>,
  id: string,
  { passwordHash, before, exceptSessionId, atMs }: NewPassword,
): Promise<UserRow | undefined> {
  let change = transaction
    .updateTable('users')
    .set({ password_hash: passwordHash, updated_at_ms: atMs })
    .where('id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .where('disabled_at_ms', 'is', null);
  if (before !== undefined) change = change.where('password_hash', before === null ? 'is' : '=', before);
  const columns = await change.returningAll().executeTakeFirst();
  if (columns === undefined) return undefined;
  let sessions = transaction
    .deleteFrom('console_sessions')
    .where('subject_kind', '=', 'user')
    .where('subject_id', '=', id);
  if (exceptSessionId !== undefined) sessions = sessions.where('id', '<>', exceptSessionId);
  await sessions.execute();
  await transaction.deleteFrom('invitations').where('user_id', '=', id).execute();
  return toRow(columns);
}

/** An admin of the organization gets the role of an admin where it becomes a member; both end together. */
export async function demote(transaction: Kysely<Tables>, userIds: readonly string[]): Promise<void> {
  await transaction
    .updateTable('membership_sources')
    .set({ role: 'member' })
    .where('user_id', 'in', userIds)
    .where('source', '=', 'manual')
    .where('role', '=', 'admin')
    .execute();
}

/** What a deleted user leaves is an id. */
const FORGOTTEN = {
  email: '',
  email_key: null,
  first_name: null,
  last_name: null,
  password_hash: null,
  oidc_subject: null,
};

/** What is left of them is their ids, which records name. */
export async function forgetUsers(transaction: Kysely<Tables>, ids: readonly string[], atMs: number): Promise<void> {
  await transaction
    .updateTable('users')
    .set({ ...FORGOTTEN, deleted_at_ms: atMs })
    .where('id', 'in', ids)
    .execute();
  await transaction.deleteFrom('membership_sources').where('user_id', 'in', ids).execute();
  // An identity provider that pushes the user again makes another one, and writes nothing into what is left of this.
  await transaction.deleteFrom('scim_group_members').where('user_id', 'in', ids).execute();
  await transaction.deleteFrom('scim_users').where('user_id', 'in', ids).execute();
}

async function findUser(kysely: Kysely<Tables>, id: string): Promise<UserRow | undefined> {
  const columns = await kysely
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .executeTakeFirst();
  return columns && toRow(columns);
}

/** In a transaction that holds the lock. */
export async function insertUser(
  transaction: Kysely<Tables>,
  row: UserRow,
  usersMax: number,
): Promise<'inserted' | 'taken' | 'full'> {
  const taken = await transaction
    .selectFrom('users')
    .select('id')
    .where('email_key', '=', row.emailKey)
    .executeTakeFirst();
  if (taken !== undefined) return 'taken';
  const { count } = await transaction
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('deleted_at_ms', 'is', null)
    .executeTakeFirstOrThrow();
  if (numberOf(count) >= usersMax) return 'full';
  await transaction.insertInto('users').values(toColumns(row)).execute();
  return 'inserted';
}

async function isLastAdmin(transaction: Kysely<Tables>, { id, disabledAtMs }: UserRow): Promise<boolean> {
  if (disabledAtMs !== null) return false;
  const other = await transaction
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'org:admin' satisfies OrganizationRole)
    .where('disabled_at_ms', 'is', null)
    .where('deleted_at_ms', 'is', null)
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst();
  return other === undefined;
}

/** Of both, an admin counts: what it disabled an identity provider does not enable. @spec scim-7 */
export async function disableUser(
  transaction: Transaction<Tables>,
  id: string,
  by: DisabledBy,
  atMs: number,
): Promise<Ended | Refusal> {
  const user = await findUser(transaction, id);
  if (user === undefined) return 'unknown';
  if (user.role === 'org:admin' && (await isLastAdmin(transaction, user))) return 'last admin';
  await transaction
    .updateTable('users')
    .set({
      disabled_at_ms: user.disabledAtMs ?? atMs,
      disabled_by: user.disabledAtMs === null || by === 'admin' ? by : user.disabledBy,
      updated_at_ms: atMs,
    })
    .where('id', '=', id)
    .execute();
  const own = await transaction
    .updateTable('keys')
    .set({ disabled: 1, disabled_reason: by, updated_at_ms: atMs })
    .where('creator_user_id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .where('disabled', '=', 0)
    .returning('hash')
    .execute();
  const keys = own.map(({ hash }) => hash);
  for (const { hash } of own)
    keys.push(...(await changeIssued(transaction, hash, { disabled: 1, disabled_reason: by, updated_at_ms: atMs })));
  await transaction
    .deleteFrom('console_sessions')
    .where('subject_kind', '=', 'user')
    .where('subject_id', '=', id)
    .execute();
  await transaction.deleteFrom('oauth_codes').where('user_id', '=', id).execute();
  await transaction.deleteFrom('invitations').where('user_id', '=', id).execute();
  await revokeConnectionsOf(transaction, id, atMs);
  await suspendInternsOf(transaction, id, atMs);
  return { keys };
}

/** Ids that other rows name: the owner of a key, the member of a workspace, the subject of a guardrail. */
const NAMED = sql`
  select creator_user_id as id from keys where creator_user_id is not null and deleted_at_ms is null
  union select user_id as id from workspace_members
  union select subject_id as id from guardrail_assignments where subject_kind = 'member'`;
const ALL_PEOPLE = sql`
  select 0 as kind, email_key as name, id from users where deleted_at_ms is null
  union all select 1 as kind, id as name, id from (${NAMED}) as named where id not in (select id from users)`;

async function listPeople(kysely: Kysely<Tables>, { offset, limit }: PageWindow): Promise<Page<Person>> {
  const [page, count] = await Promise.all([
    sql<{ readonly id: string }>`
      select id from (${ALL_PEOPLE}) as people order by kind, name limit ${limit} offset ${offset}`.execute(kysely),
    sql<{ readonly count: number }>`select count(*) as count from (${ALL_PEOPLE}) as people`.execute(kysely),
  ]);
  const ids = page.rows.map(({ id }) => id);
  if (ids.length === 0) return { rows: [], totalCount: numberOf(count.rows[0]?.count) };
  const [users, keys] = await Promise.all([
    kysely.selectFrom('users').selectAll().where('id', 'in', ids).execute(),
    kysely
      .selectFrom('keys')
      .select(['creator_user_id', ({ fn }) => fn.countAll<number>().as('count')])
      .where('creator_user_id', 'in', ids)
      .where('deleted_at_ms', 'is', null)
      .where('disabled', '=', 0)
      .groupBy('creator_user_id')
      .execute(),
  ]);
  const userOf = new Map(users.map((columns) => [columns.id, toRow(columns)]));
  const keysOf = new Map(keys.map(({ creator_user_id: id, count: owned }) => [id, numberOf(owned)]));
  const rows = ids.map((id) => ({ id, user: userOf.get(id), keys: keysOf.get(id) ?? 0 }));
  return { rows, totalCount: numberOf(count.rows[0]?.count) };
}
