import { client, type Schemas } from '../../api/client.ts';
import { useList, useRead } from '../../api/read.ts';

export type Provisioned = Schemas['ScimUser'];

/** The users that an identity provider pushes, by their ids; empty where none does. */
export function useProvisioned(enabled: boolean): ReadonlyMap<string, Provisioned> {
  const users = useList(
    ['scim-users'],
    (window, signal) => client.GET('/scim/users', { signal, params: { query: window } }),
    { enabled },
  );
  return new Map(users.data?.items.map((user) => [user.id, user]));
}

/** The group that makes admins of its members; undefined: people give roles. */
export function useAdminGroup(enabled: boolean): string | undefined {
  const config = useRead(['config'], (signal) => client.GET('/config', { signal }), { enabled });
  const value = config.data?.data.values.find(({ path }) => path === 'scim.admin_group')?.value;
  return enabled && typeof value === 'string' ? value : undefined;
}
