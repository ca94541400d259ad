import type { UseQueryResult } from '@tanstack/react-query';
import { client, type Schemas } from './client.ts';
import type { ApiError } from './errors.ts';
import { readAll } from './read-all.ts';
import { useRead } from './read.ts';

/** Lists that several pages read: the same key, so that they are read once. */

/** `external_user` is always null, which the typed client leaves out. */
export type ApiKey = Omit<Schemas['ApiKey'], 'external_user'>;
export type Workspace = Schemas['Workspace'];
/** As `ApiKey`. */
export type Credential = Omit<Schemas['ByokKey'], 'declared_zdr'>;

const PAGE_SIZE = 100;

/** Every key, disabled ones included. */
export function useKeys(enabled = true): UseQueryResult<readonly ApiKey[], ApiError> {
  return useRead(
    ['keys'],
    async (signal) => {
      const { items } = await readAll<ApiKey>(PAGE_SIZE, async ({ offset }) => {
        const query = { include_disabled: 'true', offset } as const;
        return (await client.GET('/keys', { signal, params: { query } })).data;
      });
      return { data: items };
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
