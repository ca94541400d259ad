import { client, type Schemas } from './client.ts';
import { ApiError, isRecord } from './errors.ts';
import { API_ROOT, openStream, readToken } from './transport.ts';

export type StoredFile = Schemas['ServiceFile'];

const PAGE = 100;

export async function readFiles(
  cursor: string,
  signal: AbortSignal,
): Promise<{ readonly files: readonly StoredFile[]; readonly cursor: string | undefined }> {
  const query = { limit: PAGE, ...(cursor !== '' && { cursor }) };
  const { data } = await client.GET('/files', { signal, params: { query } });
  // The other forms of the list are for clients of vendors.
  if (data === undefined || !('cursor' in data)) throw new ApiError(0, 'The gateway responded without a list.');
  return { files: data.data, cursor: data.has_more ? (data.cursor ?? undefined) : undefined };
}

export async function deleteFile(id: string): Promise<void> {
  await client.DELETE('/files/{file_id}', { params: { path: { file_id: id } } });
}

export async function downloadFile({ id }: StoredFile): Promise<Blob> {
  const response = await openStream(`${API_ROOT}/files/${encodeURIComponent(id)}/content`, { method: 'GET' });
  return response.blob();
}

/** As its workspace sees it; the gateway refuses what a workspace keeps to itself. */
export async function downloadContainerFile(workspace: string, container: string, id: string): Promise<Blob> {
  const response = await openStream(
    `${API_ROOT}/containers/${encodeURIComponent(container)}/files/${encodeURIComponent(id)}/content?workspace_id=${encodeURIComponent(workspace)}`,
    { method: 'GET' },
  );
  return response.blob();
}

/** Uploads with progress, which `fetch` does not report. @param onProgress share of the bytes that are sent */
export function uploadFile(file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<void> {
  const form = new FormData();
  form.append('file', file);
  const request = new XMLHttpRequest();
  signal.addEventListener('abort', () => request.abort());
  return new Promise((resolve, reject) => {
    request.open('POST', `${API_ROOT}/files`);
    request.setRequestHeader('X-Console-Token', readToken() ?? '');
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
    request.addEventListener('load', () =>
      request.status < 300 ? resolve() : reject(new ApiError(request.status, messageOf(request.responseText))),
    );
    request.addEventListener('abort', () => reject(new ApiError(0, 'The upload was stopped.')));
    request.addEventListener('error', () => reject(new ApiError(0, 'The upload broke off.')));
    request.send(form);
  });
}

/** Stores a dataset. @param about fields that are left out where they are empty @returns its id */
export async function uploadDataset(
  file: File,
  name: string,
  about: { readonly license?: string; readonly citation?: string } = {},
): Promise<string> {
  const form = new FormData();
  // The file comes last, so that what is wrong with the fields is known before it is sent.
  for (const [field, value] of Object.entries({ name, ...about })) if (value !== '') form.append(field, value);
  form.append('file', file);
  const response = await fetch(`${API_ROOT}/benchmarks/datasets`, {
    method: 'POST',
    headers: { 'X-Console-Token': readToken() ?? '' },
    body: form,
  });
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, messageOf(text));
  const body: unknown = JSON.parse(text);
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  if (typeof data['id'] !== 'string') throw new ApiError(0, 'The gateway responded without a dataset.');
  return data['id'];
}

function messageOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    const error = isRecord(body) && isRecord(body['error']) ? body['error'] : {};
    return typeof error['message'] === 'string' ? error['message'] : 'The upload was refused.';
  } catch {
    return 'The upload was refused.';
  }
}
