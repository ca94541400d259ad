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
const AT_ONCE = 4;

/** Every key of every workspace, disabled ones included; for a user those of its workspaces that it sees. */
export function useKeys(enabled = true): UseQueryResult<readonly ApiKey[], ApiError> {
  const { session } = useConsole();
  const own = session?.workspaces?.map(({ id }) => id);
  return useRead(
    ['keys', ...(own ?? [])],
    async (signal) => {
      const ids = own ?? (await readWorkspaces(signal)).map(({ id }) => id);
      const lists: (readonly ApiKey[])[] = [];
      // A list is of one workspace; a browser opens six connections.
      for (let at = 0; at < ids.length; at += AT_ONCE)
        lists.push(...(await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => readKeys(id, signal)))));
      return { data: lists.flat().toSorted((one, other) => (one.created_at < other.created_at ? 1 : -1)) };
    },
    { enabled },
  );
}

async function readKeys(workspaceId: string, signal: AbortSignal): Promise<readonly ApiKey[]> {
  const { items } = await readAll<ApiKey>(PAGE_SIZE, async ({ offset }) => {
    const query = {
      include_disabled: 'true',
      offset,
      workspace_id: workspaceId,
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
  return useRead(['workspaces'], async (signal) => ({ data: await readWorkspaces(signal) }), { enabled });
}

async function readWorkspaces(signal: AbortSignal): Promise<readonly Workspace[]> {
  const { items } = await readAll<Workspace>(
    PAGE_SIZE,
    async (window) => (await client.GET('/workspaces', { signal, params: { query: window } })).data,
  );
  return items;
}

/** Workspaces whose guardrails and destinations the session sees. The first one is what pages show unless another is chosen. */
export function useManagedWorkspaces(): UseQueryResult<readonly Workspace[], ApiError> {
  const { session } = useConsole();
  const own = session?.workspaces?.flatMap(({ id, role }) => (role === 'admin' ? [id] : []));
  return useRead(['workspaces', 'managed', ...(own ?? [])], async (signal) => {
    const all = await readWorkspaces(signal);
    return { data: own === undefined ? all : all.filter(({ id }) => own.includes(id)) };
  });
}

/** The workspace that a page lists: the chosen one, or the first that the session manages. */
export function useManagedWorkspace(chosen: string): {
  readonly id: string;
  readonly isKnown: boolean;
  readonly workspaces: ReturnType<typeof useManagedWorkspaces>;
} {
  const workspaces = useManagedWorkspaces();
  const id = chosen === '' ? workspaces.data?.[0]?.id : chosen;
  return { id: id ?? '', isKnown: id !== undefined, workspaces };
}

/** Names of ids, for columns. */
export function nameOf(
  list: readonly { readonly id: string; readonly name: string }[] | undefined,
  id: string | null,
): string {
  return list?.find((one) => one.id === id)?.name ?? (id === null ? '–' : id.slice(0, 8));
}
