import { client, type Schemas } from './client.ts';
import { ApiError } from './errors.ts';
import { API_ROOT, openStream } from './transport.ts';
import type { operations } from './schema.d.ts';

/** A request as lists show it: what is cheap to read of its record. */
export type GenerationRow = Schemas['GenerationListItem'];

export interface GenerationPage {
  readonly rows: readonly GenerationRow[];
  readonly cursor: string | undefined;
  /** The list looks back so far at a time. */
  readonly searchedTo: string | undefined;
  readonly lookedAt: number | undefined;
}

type Query = NonNullable<operations['listGenerations']['parameters']['query']>;

/** @param filters names and values as the API has them, from the address: the gateway reports what is wrong with one */
export async function readGenerations(
  filters: Readonly<Record<string, string>>,
  { limit, cursor, from }: { readonly limit: number; readonly cursor?: string; readonly from?: string },
  signal: AbortSignal,
): Promise<GenerationPage> {
  const page = { limit, ...(cursor !== undefined && { cursor }), ...(from !== undefined && { from }) };
  const query = { ...filters, ...page } as Query;
  const { data } = await client.GET('/generations', { signal, params: { query } });
  if (data === undefined) throw new ApiError(0, 'The gateway responded without a list.');
  return {
    rows: data.data,
    cursor: data.next_cursor ?? undefined,
    searchedTo: data.searched_to ?? undefined,
    lookedAt: data.looked_at ?? undefined,
  };
}

/** All that the filters find, as a file: at most 1,000,000 rows. */
export async function exportGenerations(
  filters: Readonly<Record<string, string>>,
  { from, format }: { readonly from: string; readonly format: 'csv' | 'jsonl' },
): Promise<Blob> {
  const query = new URLSearchParams({ ...filters, from, format });
  return (await openStream(`${API_ROOT}/generations/export?${query.toString()}`, { method: 'GET' })).blob();
}
