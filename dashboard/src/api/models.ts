import type { UseQueryResult } from '@tanstack/react-query';
import { client, type Schemas } from './client.ts';
import type { ApiError } from './errors.ts';
import { useRead } from './read.ts';

/** `per_request_limits` is always null, which the typed client leaves out. */
export type Model = Omit<Schemas['Model'], 'per_request_limits'>;
const MODELS_MAX = 500;

/** Every model of the catalog: the same key everywhere, so that it is read once. */
export function useModels(): UseQueryResult<readonly Model[], ApiError> {
  return useRead(['models'], async (signal) => {
    const { data } = await client.GET('/models', { signal, params: { query: { limit: MODELS_MAX } } });
    return { data: data !== undefined && 'total_count' in data ? data.data : [] };
  });
}
