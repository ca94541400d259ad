import type { UseQueryResult } from '@tanstack/react-query';
import { client, type Schemas } from './client.ts';
import type { ApiError } from './errors.ts';
import { useRead } from './read.ts';

/** Lists that several pages read: the same key, so that they are read once. */

/** `external_user` is always null, which the typed client leaves out. */
export type ApiKey = Omit<Schemas['ApiKey'], 'external_user'>;
export type Workspace = Schemas['Workspace'];
/** As `ApiKey`. */
export type Credential = Omit<Schemas['ByokKey'], 'declared_zdr'>;

const KEYS_PAGE = 100;
const KEY_PAGES_MAX = 20;
const LIST_MAX = 100;

/** Every key, disabled ones included: the API gives them a hundred at a time. */
export function useKeys(enabled = true): UseQueryResult<readonly ApiKey[], ApiError> {
  return useRead(
    ['keys'],
    async (signal) => {
      const all: ApiKey[] = [];
      for (let page = 0; page < KEY_PAGES_MAX; page += 1) {
        // Each page begins where the last one ended.
        // eslint-disable-next-line no-await-in-loop
        const { data } = await client.GET('/keys', {
          signal,
          params: { query: { include_disabled: 'true', offset: page * KEYS_PAGE } },
        });
        const keys = data?.data ?? [];
        all.push(...keys);
        if (keys.length < KEYS_PAGE) break;
      }
      return { data: all };
    },
    { enabled },
  );
}

export function useWorkspaces(enabled = true): UseQueryResult<readonly Workspace[], ApiError> {
  return useRead(
    ['workspaces'],
    async (signal) => ({
      data: (await client.GET('/workspaces', { signal, params: { query: { limit: LIST_MAX } } })).data?.data,
    }),
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
