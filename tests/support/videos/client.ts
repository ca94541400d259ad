import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { API_KEY } from '../gateway.ts';

/** Small enough that a job of a test takes some milliseconds. */
export const QUICK = { tickMs: 5, firstPollMs: 10, pollMsMax: 40, callbackDelaysMs: [0, 20, 20] } as const;

export const bearer = (key = API_KEY): { readonly authorization: string } => ({ authorization: `Bearer ${key}` });

export async function jsonOf(response: Response): Promise<JsonObject> {
  const body: unknown = await response.json();
  assert.ok(isJsonObject(body));
  return body;
}

export function textAt(body: JsonObject, member: string): string {
  const value = body[member];
  assert.ok(typeof value === 'string', `${member} of ${JSON.stringify(body)}`);
  return value;
}

export async function getJob(baseUrl: string, id: string, key?: string): Promise<JsonObject> {
  return jsonOf(await fetch(`${baseUrl}/videos/${id}`, { headers: bearer(key) }));
}

const TRIES_MAX = 400;
const LOOK_MS = 15;

/** Looks until the job is over, or as the test wants it. */
export async function waitFor(
  baseUrl: string,
  id: string,
  isWanted: (job: JsonObject) => boolean = ({ status }) =>
    status !== 'pending' && status !== 'in_progress' && status !== 'queued',
  key?: string,
): Promise<JsonObject> {
  let job: JsonObject = {};
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    job = await getJob(baseUrl, id, key);
    if (isWanted(job)) return job;
    await sleep(LOOK_MS);
  }
  throw new Error(`The job never came so far: ${JSON.stringify(job)}`);
}

/** Looks until the test has what it waits for. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (await isTrue()) return;
    await sleep(LOOK_MS);
  }
  throw new Error('What the test waits for never came.');
}
