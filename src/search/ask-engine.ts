import { VaultError } from '../canonical/vault-reference.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { GrowingBytes } from '../lib/memory/growing-bytes.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { callJson, JsonCallError, type JsonAnswer } from '../lib/net/json-call.ts';
import type { Json } from '../lib/json.ts';
import type { EngineCall, EngineSettings, SearchEngine } from './contract.ts';

/** The settings with the key of now; why there is none, for callers and for the operator's log. */
export async function settingsNow(
  engine: Pick<SearchEngine, 'id'>,
  settings: EngineSettings,
): Promise<EngineSettings | { readonly missing: string }> {
  try {
    return (await settings.fill?.()) ?? settings;
  } catch (error) {
    if (error instanceof VaultError) return { missing: `The search engine ${engine.id} has no key: ${error.code}.` };
    throw error;
  }
}

const SEARCH_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 16 * 1_024 * 1_024;

export type EngineAnswer =
  | { readonly status: 'answered'; readonly body: Json | undefined }
  | {
      readonly status: 'failed';
      readonly reason: 'too_many_requests' | 'unavailable';
      readonly message: string;
    };

/** One call of an engine. What it says of an error stays here: it may hold what is not for callers. Never rejects. */
export async function askEngine(question: {
  readonly http: HttpClient;
  readonly engine: Pick<SearchEngine, 'id'>;
  readonly settings: EngineSettings;
  readonly call: EngineCall;
  /** Of all that is fetched. */
  readonly memory?: ByteBudget | undefined;
  readonly signal: AbortSignal;
}): Promise<EngineAnswer> {
  const { http, engine, settings, call, memory, signal } = question;
  const { method, path, headers, body } = call;
  const taken = memory && new GrowingBytes(memory, signal);
  const limits = { timeoutMs: SEARCH_TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX, memory: taken };
  let answer: JsonAnswer;
  try {
    answer = await callJson(http, { method, url: new URL(settings.baseUrl + path), headers, body }, limits, signal);
  } catch (error) {
    if (!(error instanceof JsonCallError)) throw error;
    return { status: 'failed', reason: 'unavailable', message: `The search engine ${engine.id} ${error.message}.` };
  } finally {
    taken?.close();
  }
  if (answer.status === 200) return { status: 'answered', body: answer.body };
  return {
    status: 'failed',
    reason: answer.status === 429 ? 'too_many_requests' : 'unavailable',
    message: `The search engine ${engine.id} ${meaningOf(answer.status)}.`,
  };
}

/** For callers, and for the operator, whose log contains it, too. */
function meaningOf(status: number): string {
  if (status === 429) return 'gets too many requests';
  if (status === 401 || status === 403) return `refused the gateway's credentials (status ${status})`;
  if (status === 402) return "has no credit left for the gateway's account (status 402)";
  return `failed with status ${status}`;
}
