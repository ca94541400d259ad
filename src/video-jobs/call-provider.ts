import { transportFailure } from '../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import { Cancellation } from '../lib/async/cancellation.ts';
import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import type { HttpClient, InboundAnswer } from '../lib/net/http-client.ts';
import { parseRetryAfterMs } from '../lib/net/retry-after.ts';
import { addressOf } from '../pipeline/attempt/call-upstream.ts';
import { readFailure } from '../pipeline/attempt/read-answer.ts';
import { tryAuthorize } from '../pipeline/attempt/upstream.ts';
import { abortFailure, ResponseTooLarge, WatchedCall } from '../pipeline/attempt/watched-call.ts';
import type { CallContext, Provider } from '../providers/contract.ts';
import type { VideoCall, VideoFormat } from '../wire/video/format.ts';

export interface CallProviderDeps {
  readonly http: HttpClient;
  /** Wall clock, ms. */
  readonly nowMs: () => number;
}

export interface ProviderCall {
  readonly provider: Provider;
  readonly format: VideoFormat;
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly call: VideoCall;
  /** Of the whole call, ms. */
  readonly timeoutMs: number;
  readonly cancellation?: Cancellation;
  /** The provider may have the request from here on. */
  readonly onSent?: () => void;
}

/** An answer that is a success: of what it says, nothing is known yet. */
export interface ProviderAnswer {
  readonly status: number;
  /** `undefined`: it is empty, or no JSON object. */
  readonly body: JsonObject | undefined;
  readonly isEmpty: boolean;
  readonly retryAfterMs: number | undefined;
}

/** A job's answers are small: its clips are addresses. */
const ANSWER_BYTES_MAX = 1_048_576;

/** Calls a provider about a job. Every failure is a value. */
export async function callProvider(
  deps: CallProviderDeps,
  { provider, format, model, call, timeoutMs, cancellation = new Cancellation(), onSent }: ProviderCall,
): Promise<ProviderAnswer | UpstreamFailure> {
  const { settings } = provider;
  const { origin, basePath } = addressOf(provider);
  const context: CallContext = { format: format.id, settings, model, stream: false };
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const headers: Readonly<Record<string, string>> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    'user-agent': 'model-gateway',
    ...settings.headers,
  };
  const path = basePath + call.path;
  const outgoing = { ...context, method: call.method, url: origin + path, headers, body: body ?? '' };
  const request = {
    origin,
    path,
    method: call.method,
    ...(body !== undefined && { body }),
    connectTimeoutMs: settings.timeouts.connectMs,
  };
  const outbound = await tryAuthorize(provider, () => {
    const credentials = provider.authorize(outgoing);
    return credentials instanceof Promise
      ? credentials.then((found) => ({ ...request, headers: { ...headers, ...found } }))
      : { ...request, headers: { ...headers, ...credentials } };
  });
  if ('kind' in outbound) return outbound;
  if (cancellation.aborted) return abortFailure(cancellation);
  const watched = new WatchedCall(deps.http.call(outbound, onSent), cancellation);
  watched.watch.arm('whole', timeoutMs);
  try {
    const answer = await watched.answer;
    const read = isSuccess(answer.status)
      ? await readAnswer(answer, deps.nowMs())
      : await readFailure(answer, (text) => format.decodeError(text), provider, deps.nowMs());
    if ('kind' in read) watched.cancel();
    return read;
  } catch (error) {
    watched.cancel();
    return watched.explain(error);
  } finally {
    watched.finish();
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

async function readAnswer(answer: InboundAnswer, nowMs: number): Promise<ProviderAnswer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new ResponseTooLarge();
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8').trim();
  const body = text === '' ? undefined : parseJson(text);
  return {
    status: answer.status,
    body: isJsonObject(body) ? body : undefined,
    isEmpty: text === '',
    retryAfterMs: parseRetryAfterMs(answer.headers, nowMs),
  };
}

/** What is no answer of the format. */
export function unreadable(): UpstreamFailure {
  return transportFailure('garbage');
}
