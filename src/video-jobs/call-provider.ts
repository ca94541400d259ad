import { transportFailure } from '../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import { Cancellation } from '../lib/async/cancellation.ts';
import { isJsonObject, parseJson, type JsonObject } from '../lib/json.ts';
import type { HttpClient, InboundAnswer } from '../lib/net/http-client.ts';
import { parseRetryAfterMs } from '../lib/net/retry-after.ts';
import { ResponseTooLarge } from '../pipeline/attempt/watched-call.ts';
import { TextMember } from './clip-in-json.ts';
import { openCall, type UpstreamCall } from '../pipeline/operation/one-call.ts';
import type { Provider } from '../providers/contract.ts';
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
  /** A clip stands in it, so that it was not read on. */
  readonly holdsClip: boolean;
  readonly retryAfterMs: number | undefined;
}

/** A job's answers are small: its clips are addresses. */
const ANSWER_BYTES_MAX = 1_048_576;

/** Calls a provider about a job. Every failure is a value. */
export async function callProvider(
  deps: CallProviderDeps,
  { provider, format, model, call, timeoutMs, cancellation = new Cancellation(), onSent }: ProviderCall,
): Promise<ProviderAnswer | UpstreamFailure> {
  const upstream: UpstreamCall = {
    provider,
    context: { format: format.id, settings: provider.settings, model, stream: false },
    path: call.path,
    method: call.method,
    ...(call.body !== undefined && { body: { json: call.body } }),
    isAnswer: isSuccess,
    decodeError: (text) => format.decodeError(text),
  };
  const space = {
    attempt: { sent: () => onSent?.(), traceHeaders: () => ({}), keyHash: undefined },
    deadline: NO_OTHERS,
    cancellation,
  };
  const opened = await openCall(deps, upstream, space, { clock: 'whole', ms: timeoutMs });
  if ('kind' in opened) return opened;
  const { answer, call: watched } = opened;
  try {
    const read = await readAnswer(answer, format.clipMember, deps.nowMs());
    if (read.holdsClip) watched.cancel();
    return read;
  } catch (error) {
    watched.cancel();
    return watched.explain(error);
  } finally {
    watched.finish();
  }
}

/** No other provider can go on with a job: nothing cuts its calls short. */
const NO_OTHERS = { cut: () => undefined } as const;

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

async function readAnswer(
  answer: InboundAnswer,
  clipMember: string | undefined,
  nowMs: number,
): Promise<ProviderAnswer> {
  const chunks: Uint8Array[] = [];
  const search = clipMember === undefined ? undefined : new TextMember(clipMember);
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (search?.push(chunk) === true)
      return { status: answer.status, body: undefined, isEmpty: false, holdsClip: true, retryAfterMs: undefined };
    if (bytes > ANSWER_BYTES_MAX) throw new ResponseTooLarge();
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8').trim();
  const body = text === '' ? undefined : parseJson(text);
  return {
    status: answer.status,
    body: isJsonObject(body) ? body : undefined,
    isEmpty: text === '',
    holdsClip: false,
    retryAfterMs: parseRetryAfterMs(answer.headers, nowMs),
  };
}

/** What is no answer of the format. */
export function unreadable(): UpstreamFailure {
  return transportFailure('garbage');
}
