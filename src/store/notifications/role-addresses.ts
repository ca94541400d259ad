import type { Database } from '../engine/database.ts';

/** Whose addresses stand for a role. */
export interface RoleAddresses {
  admins(): Promise<readonly string[]>;
  adminsOf(workspaceId: string): Promise<readonly string[]>;
  ownerOf(keyHash: string): Promise<readonly string[]>;
}

const ADDRESSES_MAX = 100;

/** Of users that may sign in. */
export function createRoleAddresses({ kysely }: Database): RoleAddresses {
  const active = () =>
    kysely
      .selectFrom('users')
      .select('users.email')
      .where('users.disabled_at_ms', 'is', null)
      .where('users.deleted_at_ms', 'is', null)
      .where('users.email_key', 'is not', null)
      .orderBy('users.email')
      .limit(ADDRESSES_MAX);
  const emailsOf = (rows: readonly { readonly email: string }[]): readonly string[] => rows.map(({ email }) => email);
  return {
    admins: async () => emailsOf(await active().where('role', '=', 'org:admin').execute()),
    adminsOf: async (workspaceId) =>
      emailsOf(
        await active()
          .innerJoin('workspace_members as member', 'member.user_id', 'users.id')
          .where('member.workspace_id', '=', workspaceId)
          .where('member.role', '=', 'admin')
          .execute(),
      ),
    ownerOf: async (keyHash) =>
      emailsOf(
        await active().innerJoin('keys', 'keys.creator_user_id', 'users.id').where('keys.hash', '=', keyHash).execute(),
      ),
  };
}
