import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../src/lib/json.ts';

/** What a test reads of an answer. For tests only. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: JsonObject;
}

/** Posts a body, `text` where it is a string, and reads the whole answer. */
export async function post(
  baseUrl: string,
  path: string,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestAnswer> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const json = parseJson(text);
  return { status: response.status, headers: response.headers, text, json: isJsonObject(json) ? json : {} };
}

/** The value at a path such as `choices.0.message.content`; `undefined` where there is none. */
export function at(value: Json | undefined, path: string): Json | undefined {
  let node = value;
  for (const step of path.split('.')) {
    if (Array.isArray(node)) {
      const items: readonly Json[] = node;
      node = items[Number(step)];
    } else {
      node = isJsonObject(node) ? node[step] : undefined;
    }
  }
  return node;
}

/** The text at a path; `''` where there is none. */
export function textAt(value: Json | undefined, path: string): string {
  const found = at(value, path);
  return typeof found === 'string' ? found : '';
}

/** The events of a stream, each with the name it came under. */
export function eventsOf(
  stream: string,
): readonly { readonly name: string | undefined; readonly data: Json | undefined }[] {
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const lines = frame.split('\n');
      const name = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length);
      const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length) ?? '';
      return { name, data: data === '[DONE]' ? data : parseJson(data) };
    });
}
