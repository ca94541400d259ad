import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';
import { API_ROOT, fetchApi } from './transport.ts';

/** The management API, typed by its own document. */
export const client = createClient<paths>({ baseUrl: API_ROOT, fetch: fetchApi });

export type Schemas = components['schemas'];
/** The element of a list that a `GET` of this shape returns. */
export type ItemOf<Response> = Response extends { readonly data: readonly (infer Item)[] } ? Item : never;
