import { client, type ItemOf, type Schemas } from './client.ts';
import { ApiError } from './errors.ts';

export type KeptResponse = ItemOf<Schemas['ListKeptResponsesResponse']>;

const PAGE = 50;
const ITEMS = 100;

/** @param workspace empty: that of the session's key */
export async function readKept(
  workspace: string,
  cursor: string,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly KeptResponse[]; readonly next: string | undefined }> {
  const query = {
    limit: PAGE,
    ...(workspace !== '' && { workspace_id: workspace }),
    ...(cursor !== '' && { cursor }),
  };
  const { data } = await client.GET('/responses/kept', { signal, params: { query } });
  if (data === undefined) throw new ApiError(0, 'The gateway responded without a list.');
  return { rows: data.data, next: data.next_cursor ?? undefined };
}

export interface ResponseContent {
  readonly response: Schemas['StoredResponse'];
  readonly input: Schemas['ResponseItemList']['data'];
  /** The input has more items than these. */
  readonly hasMore: boolean;
}

/** As the session's key in the workspace may read it. @throws ApiError 404 for what another key sent */
export async function readResponse(id: string, workspace: string, signal: AbortSignal): Promise<ResponseContent> {
  const path = { response_id: id };
  const headers = workspace === '' ? {} : { 'X-Console-Workspace': workspace };
  const [found, input] = await Promise.all([
    client.GET('/responses/{response_id}', { signal, headers, params: { path } }),
    client.GET('/responses/{response_id}/input_items', {
      signal,
      headers,
      params: { path, query: { limit: ITEMS, order: 'asc' } },
    }),
  ]);
  if (found.data === undefined || input.data === undefined)
    throw new ApiError(0, 'The gateway responded without a response.');
  return { response: found.data, input: input.data.data, hasMore: input.data.has_more };
}
