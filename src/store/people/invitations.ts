import { randomUUID } from 'node:crypto';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { numberOf } from '../portable.ts';
import { invitationRows, type InvitationRow, type UserRow } from './columns.ts';
import { insertUser, PEOPLE_LOCK } from './people.ts';

const { toColumns, toRow } = invitationRows;

/** Links that have neither been used nor expired. */
export interface InvitationStore {
  /** Inserts a link in place of the one that this address has. Deletes expired ones, which have no other use. */
  insert(row: InvitationRow): Promise<void>;
  find(tokenHash: string, nowMs: number): Promise<InvitationRow | undefined>;
  findByEmail(emailKey: string, nowMs: number): Promise<InvitationRow | undefined>;
  get(id: string, nowMs: number): Promise<InvitationRow | undefined>;
  count(nowMs: number): Promise<number>;
  /** Lists those that make users, the newest first. */
  list(window: PageWindow, nowMs: number): Promise<Page<InvitationRow>>;
  delete(id: string): Promise<boolean>;
  /**
   * Uses a link up and makes its user, in one commit: of several that try at once one succeeds.
   * @returns the user; `undefined`: it was used, withdrawn, or has expired
   */
  accept(id: string, user: UserRow, usersMax: number, nowMs: number): Promise<UserRow | 'taken' | 'full' | undefined>;
  /** Uses a link up that lets a user choose a password. */
  use(id: string, nowMs: number): Promise<boolean>;
}

export function createInvitationStore({ database }: { readonly database: Database }): InvitationStore {
  const { kysely } = database;
  const open = (nowMs: number) => kysely.selectFrom('invitations').where('expires_at_ms', '>', nowMs);
  const findBy = async (column: 'token_hash' | 'email_key' | 'id', value: string, nowMs: number) => {
    const columns = await open(nowMs).selectAll().where(column, '=', value).executeTakeFirst();
    return columns && toRow(columns);
  };
  return {
    insert: (row) =>
      kysely.transaction().execute(async (transaction) => {
        await transaction
          .deleteFrom('invitations')
          .where((is) => is.or([is('expires_at_ms', '<=', row.createdAtMs), is('email_key', '=', row.emailKey)]))
          .execute();
        await transaction.insertInto('invitations').values(toColumns(row)).execute();
      }),
    find: (tokenHash, nowMs) => findBy('token_hash', tokenHash, nowMs),
    findByEmail: (emailKey, nowMs) => findBy('email_key', emailKey, nowMs),
    get: (id, nowMs) => findBy('id', id, nowMs),
    async count(nowMs) {
      const counting = open(nowMs).select(({ fn }) => fn.countAll<number>().as('count'));
      return numberOf((await counting.executeTakeFirstOrThrow()).count);
    },
    list: (window, nowMs) =>
      fetchPage(
        open(nowMs).where('user_id', 'is', null),
        window,
        (found) => found.selectAll().orderBy('created_at_ms', 'desc').orderBy('id'),
        toRow,
      ),
    async delete(id) {
      const { numDeletedRows } = await kysely.deleteFrom('invitations').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    accept: (id, user, usersMax, nowMs) =>
      database.runAlone(PEOPLE_LOCK, async (transaction) => {
        const found = await transaction
          .selectFrom('invitations')
          .selectAll()
          .where('id', '=', id)
          .where('user_id', 'is', null)
          .where('expires_at_ms', '>', nowMs)
          .executeTakeFirst();
        if (found === undefined) return undefined;
        const outcome = await insertUser(transaction, user, usersMax);
        if (outcome !== 'inserted') return outcome;
        await transaction.deleteFrom('invitations').where('id', '=', id).execute();
        const { workspaces } = toRow(found);
        const members = workspaces.map(({ workspaceId, role }) => ({
          id: randomUUID(),
          workspace_id: workspaceId,
          user_id: user.id,
          source: 'manual',
          role,
          created_at_ms: nowMs,
        }));
        if (members.length > 0) await transaction.insertInto('membership_sources').values(members).execute();
        return user;
      }),
    async use(id, nowMs) {
      const { numDeletedRows } = await kysely
        .deleteFrom('invitations')
        .where('id', '=', id)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
