import type { UseQueryResult } from '@tanstack/react-query';
import { client, type Schemas } from './client.ts';
import type { ApiError } from './errors.ts';
import { readAll } from './read-all.ts';
import { useRead } from './read.ts';

/** `per_request_limits` is always null, which the typed client leaves out. */
export type Model = Omit<Schemas['Model'], 'per_request_limits'>;
/** The most that a page of models has. */
const MODELS_PAGE = 1_000;

/** The models that a key may use, by their ids. @param keyHash empty: none is looked at */
export function useModelsOfKey(keyHash: string): UseQueryResult<ReadonlySet<string>, ApiError> {
  return useRead(
    ['models-user', keyHash],
    async (signal) => {
      const { items } = await readAll<Model>(MODELS_PAGE, async (window) => {
        const query = { ...window, as_key: keyHash };
        const { data } = await client.GET('/models/user', { signal, params: { query } });
        return data !== undefined && 'total_count' in data ? data : undefined;
      });
      return { data: new Set(items.map(({ id }) => id)) };
    },
    { enabled: keyHash !== '' },
  );
}

/** Every model of the catalog: the same key everywhere, so that it is read once. */
export function useModels(): UseQueryResult<readonly Model[], ApiError> {
  return useRead(['models'], async (signal) => {
    const { items } = await readAll<Model>(MODELS_PAGE, async (window) => {
      const { data } = await client.GET('/models', { signal, params: { query: { ...window } } });
      return data !== undefined && 'total_count' in data ? data : undefined;
    });
    return { data: items };
  });
}
