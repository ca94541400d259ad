import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '../../../../src/lib/json.ts';
import { textOf } from '../../../../src/wire/json-fields.ts';
import { API_KEY } from '../../gateway.ts';

const SOON_MS = 20_000;

/** Test support: long enough to be watched, and over in a second. */
export const LONG = { model: 'sandbox/long', input: 'tokens=40 every=20', background: true };
/** Test support: does not end by itself while a test runs. */
export const ENDLESS = { model: 'sandbox/long', input: 'tokens=2000 every=50', background: true };

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Headers;
}

interface At {
  readonly url: string;
}

/** Test support: one call of a gateway. */
export async function call({ url }: At, method: string, path: string, body?: object, key = API_KEY): Promise<Answer> {
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as JsonObject };
}

/** Test support: starts a response in the background. @returns its id */
export async function acceptResponse(gateway: At, body: object): Promise<string> {
  const { status, body: response } = await call(gateway, 'POST', '/responses', body);
  assert.equal(status, 200, JSON.stringify(response));
  assert.deepEqual([response['status'], response['background'], response['store']], ['queued', true, true]);
  return textOf(response['id']) ?? '';
}

/** Test support: polls a response. */
export async function until(gateway: At, id: string, isSo: (response: JsonObject) => boolean): Promise<JsonObject> {
  const endMs = performance.now() + SOON_MS;
  for (;;) {
    const { body } = await call(gateway, 'GET', `/responses/${id}`);
    if (isSo(body)) return body;
    assert.ok(performance.now() < endMs, JSON.stringify(body).slice(0, 2_000));
    await wait(30);
  }
}

export const hasEnded = ({ status }: JsonObject): boolean => status !== 'queued' && status !== 'in_progress';
export const hasOutput = ({ output }: JsonObject): boolean => Array.isArray(output) && output.length > 0;

/** Test support: the events of a response, to their end. */
export async function streamOf({ url }: At, id: string, query = ''): Promise<string> {
  const response = await fetch(`${url}/v1/responses/${id}?stream=true${query}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  return text;
}
