import type { Transaction } from 'kysely';
import type { OrganizationRole } from '../people/columns.ts';
import { demote } from '../people/people.ts';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';

/** Ids in one statement: SQLite takes 32,766 values, PostgreSQL 65,535. */
const STATEMENT_ROWS = 500;

export function* chunksOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += STATEMENT_ROWS) yield ids.slice(from, from + STATEMENT_ROWS);
}

/**
 * Gives users a role, in few statements however many they are.
 * @returns whether one of them keeps its own, as the last admin that may sign in
 * @spec scim-9
 */
export async function setRole(
  transaction: Transaction<Tables>,
  role: OrganizationRole,
  userIds: readonly string[],
  nowMs: number,
): Promise<boolean> {
  const others = [];
  for (const ids of chunksOf(userIds))
    others.push(
      ...(await transaction
        .selectFrom('users')
        .select(['id', 'role', 'disabled_at_ms', 'created_at_ms'])
        .where('id', 'in', ids)
        .where('role', '<>', role)
        .where('deleted_at_ms', 'is', null)
        .execute()),
    );
  const admins = others.filter((user) => user.role === 'org:admin' && user.disabled_at_ms === null);
  const [oldest] = admins.toSorted((one, other) => one.created_at_ms - other.created_at_ms);
  const kept = oldest !== undefined && (await countAdmins(transaction)) === admins.length ? oldest.id : undefined;
  const changed = others.map(({ id }) => id).filter((id) => id !== kept);
  for (const ids of chunksOf(changed)) {
    await transaction.updateTable('users').set({ role, updated_at_ms: nowMs }).where('id', 'in', ids).execute();
    if (role === 'org:member') await demote(transaction, ids);
  }
  return kept !== undefined;
}

/** Those that may sign in. */
async function countAdmins(transaction: Transaction<Tables>): Promise<number> {
  const { count } = await transaction
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('role', '=', 'org:admin')
    .where('disabled_at_ms', 'is', null)
    .where('deleted_at_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return numberOf(count);
}
