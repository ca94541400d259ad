import type { JsonObject } from '../../../src/lib/json.ts';
import { API_KEY, type RunningGateway } from '../gateway.ts';

export interface UploadInput {
  readonly name: string;
  /** Further fields of the form. */
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** With its question mark. */
  readonly query: string;
  readonly key: string;
}

export interface Uploaded {
  readonly status: number;
  readonly body: JsonObject;
}

/** Sends a file as a client does. */
export async function upload(
  { baseUrl }: Pick<RunningGateway, 'baseUrl'>,
  content: string | Uint8Array<ArrayBuffer>,
  { name = 'notes.txt', fields = {}, headers = {}, query = '', key = API_KEY }: Partial<UploadInput> = {},
): Promise<Uploaded> {
  const form = new FormData();
  form.set('file', new Blob([content], { type: 'application/x-anything' }), name);
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  const authorization = `Bearer ${key}`;
  const response = await fetch(`${baseUrl}/files${query}`, {
    method: 'POST',
    headers: { authorization, ...headers },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}
