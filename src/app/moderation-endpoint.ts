import type { Moderate } from '../canonical/tools/moderation.ts';
import type { Config } from '../config/config.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { callJson } from '../lib/net/json-call.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

// Wire: `POST /moderations` of openai-node 7.55, `resources/moderations`, read 2026-11.
const BASE_URL = 'https://api.openai.com/v1';
const MODEL = 'omni-moderation-latest';
/** Every request with moderation waits for it. */
const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 1_048_576;

/** `undefined`: the operator named neither a key nor an address. */
export function createModerationEndpoint(
  http: HttpClient,
  { apiKey, baseUrl, model = MODEL }: Config['moderation']['endpoint'],
): Moderate | undefined {
  if (apiKey === undefined && baseUrl === undefined) return undefined;
  const url = new URL(`${baseUrl ?? BASE_URL}/moderations`);
  return async (texts, signal) => {
    const { status, body } = await callJson(
      http,
      {
        method: 'POST',
        url,
        headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
        body: { model, input: [...texts] },
      },
      { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX },
      signal,
    );
    if (status !== 200 || !isJsonObject(body)) throw new Error(`The moderation endpoint answered with ${status}.`);
    const results = readResults(body['results'], texts.length);
    const reportedModel = body['model'];
    return {
      flagged: results.some((result) => result['flagged'] === true),
      categories: [...new Set(results.flatMap(({ categories }) => namesOf(categories)))],
      model: typeof reportedModel === 'string' ? reportedModel : model,
      providerName: url.host,
    };
  };
}

/** One for each text: what was not judged was not found harmless. */
function readResults(results: Json | undefined, count: number): readonly JsonObject[] {
  const read = Array.isArray(results) ? results.filter(isJsonObject) : [];
  if (read.length !== count || read.some(({ flagged }) => typeof flagged !== 'boolean'))
    throw new Error('The moderation endpoint answered with something else than results.');
  return read;
}

function namesOf(categories: Json | undefined): readonly string[] {
  if (!isJsonObject(categories)) return [];
  return Object.entries(categories).flatMap(([name, isSo]) => (isSo === true ? [name] : []));
}
