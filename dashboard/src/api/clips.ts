import { client, type ItemOf, type Schemas } from './client.ts';
import { ApiError } from './errors.ts';
import { API_ROOT, openStream } from './transport.ts';

export type ClipJob = ItemOf<Schemas['ListVideoJobsResponse']>;
export type ClipStatus = ClipJob['status'];

const PAGE = 50;

export interface ClipFilters {
  readonly status?: ClipStatus;
  readonly model?: string;
  readonly workspace?: string;
}

/** @param after the last id of the page before; empty: the newest */
export async function readClipJobs(
  filters: ClipFilters,
  after: string,
  signal: AbortSignal,
): Promise<{ readonly jobs: readonly ClipJob[]; readonly next: string | undefined }> {
  const query = { ...filters, limit: PAGE, ...(after !== '' && { after }) };
  const { data } = await client.GET('/videos/jobs', { signal, params: { query } });
  if (data === undefined) throw new ApiError(0, 'The gateway responded without a list.');
  return { jobs: data.data, next: data.has_more ? data.data.at(-1)?.id : undefined };
}

/** The gateway records the reading of a session. */
export async function readClip(id: string, index: number): Promise<Blob> {
  const response = await openStream(`${API_ROOT}/videos/jobs/${encodeURIComponent(id)}/content?index=${index}`, {
    method: 'GET',
  });
  return response.blob();
}
