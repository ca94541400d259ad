import type { UseQueryResult } from '@tanstack/react-query';
import { client, type ItemOf, type Schemas } from './client.ts';
import { asApiError, type ApiError } from './errors.ts';
import { readAll, type List } from './read-all.ts';
import { useList, useRead } from './read.ts';
import { useConsole } from './session.ts';

/** Lists that several pages read: the same key, so that they are read once. */

/** `external_user` is always null, which the typed client leaves out. */
export type ApiKey = Omit<Schemas['ApiKey'], 'external_user'>;
export type Workspace = Schemas['Workspace'];
/** As `ApiKey`. */
export type Credential = Omit<Schemas['ByokKey'], 'declared_zdr'>;

const PAGE_SIZE = 100;

/** Every key, disabled ones included; for a user those of its workspaces that it sees. */
export function useKeys(enabled = true): UseQueryResult<readonly ApiKey[], ApiError> {
  const { session } = useConsole();
  const own = session?.workspaces?.map(({ id }) => id);
  return useRead(
    ['keys', ...(own ?? [])],
    async (signal) => {
      const lists = await Promise.all((own ?? [undefined]).map((id) => readKeys(id, signal)));
      return { data: lists.flat() };
    },
    { enabled },
  );
}

async function readKeys(workspaceId: string | undefined, signal: AbortSignal): Promise<readonly ApiKey[]> {
  const { items } = await readAll<ApiKey>(PAGE_SIZE, async ({ offset }) => {
    const query = {
      include_disabled: 'true',
      offset,
      ...(workspaceId !== undefined && { workspace_id: workspaceId }),
    } as const;
    return (await client.GET('/keys', { signal, params: { query } })).data;
  });
  return items;
}

export type Person = ItemOf<Schemas['ListOrganizationMembersResponse']>;

/** Users, and the ids that keys, workspaces and guardrails name. */
export function usePeople(enabled = true): UseQueryResult<List<Person>, ApiError> {
  return useList(
    ['people'],
    async (window, signal) => {
      try {
        return await client.GET('/organization/members', { signal, params: { query: window } });
      } catch (error) {
        // The gateway has no list before a key or a workspace names a user.
        if (asApiError(error).status === 404) return { data: { data: [] } };
        throw error;
      }
    },
    { enabled },
  );
}

export function useWorkspaces(enabled = true): UseQueryResult<readonly Workspace[], ApiError> {
  return useRead(
    ['workspaces'],
    async (signal) => {
      const { items } = await readAll<Workspace>(
        PAGE_SIZE,
        async (window) => (await client.GET('/workspaces', { signal, params: { query: window } })).data,
      );
      return { data: items };
    },
    { enabled },
  );
}

/** Names of ids, for columns. */
export function nameOf(
  list: readonly { readonly id: string; readonly name: string }[] | undefined,
  id: string | null,
): string {
  return list?.find((one) => one.id === id)?.name ?? (id === null ? '–' : id.slice(0, 8));
}
