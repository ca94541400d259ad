import { classifyStatus, transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch, GenerationEvent } from '../canonical/events.ts';
import type { FormatId } from '../canonical/extra.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { HttpClient, InboundAnswer, OutboundRequest } from '../lib/http-client.ts';
import type { JsonObject } from '../lib/json.ts';
import { readRetryAfterMs } from '../lib/retry-delay.ts';
import { CredentialError, type Provider } from '../providers/contract.ts';
import type { Candidate } from '../routing/plan.ts';
import type { OpenAttempt } from '../telemetry/record.ts';
import type { StreamDecoder, UpstreamFormat } from '../wire/format.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { authorizeCall, tryPrepareCall, type PreparedCall } from './call-upstream.ts';
import { AnswerCleaner } from './clean-answer.ts';
import { commitStream, commitWhole, isLast, type AttemptOutcome } from './commit-answer.ts';
import type { MediaInliner } from './inline-media.ts';
import { judgeFailure } from './judge-failure.ts';
import { abortFailure, AnswerTooLarge, WatchedCall } from './watched-call.ts';

export interface AttemptParts {
  readonly http: HttpClient;
  readonly formats: Readonly<Partial<Record<FormatId, UpstreamFormat>>>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** The provider with the candidate's own credential. @throws CredentialError */
  readonly ownUpstream: (candidate: Candidate) => Promise<Upstream>;
  readonly memory: AnswerMemory;
  /** Wall clock, ms. */
  readonly nowMs: () => number;
}

/** Who is called, and for what. */
export interface Upstream {
  readonly provider: Provider;
  /** As it is called there: a credential may have another name for the model. */
  readonly endpoint: Endpoint;
}

/** What every attempt of one request shares. */
export interface AttemptRequest {
  readonly request: GenerationRequest;
  /** Hash of account and end user. */
  readonly endUserId: string;
  readonly accountId: string;
  readonly media: MediaInliner;
  /** Takes the bodies that go upstream. Absent: the caller did not ask to see them. */
  readonly echoes: UpstreamEcho[] | undefined;
}

/** What went upstream, without credentials. */
export interface UpstreamEcho {
  /** Display name. */
  readonly provider: string;
  readonly body: JsonObject;
}

const CREDENTIAL_FAILURE: UpstreamFailure = {
  kind: 'connect',
  errorType: 'provider_unavailable',
  status: 502,
  mayTry: 'next-endpoint',
  message: "The gateway's credentials for the provider do not work.",
};
const OWN_CREDENTIAL_FAILURE: UpstreamFailure = {
  ...CREDENTIAL_FAILURE,
  message: "The account's own credential for the provider does not work.",
};
const ERROR_BODY_BYTES_MAX = 64 * 1_024;
const WHOLE_BODY_BYTES_MAX = 64 * 1_024 * 1_024;

/**
 * Sends the request to one candidate and waits for its first content. Every failure until then is a value.
 * @param signal aborted when the caller is gone or the request's time is up
 */
export async function makeAttempt(
  parts: AttemptParts,
  candidate: Candidate,
  { request: given, endUserId, accountId, media, echoes }: AttemptRequest,
  attempt: Pick<OpenAttempt, 'warn' | 'sent'>,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const upstream = await upstreamOf(parts, candidate);
  if ('kind' in upstream) return { committed: false, failure: upstream };
  const { provider, endpoint } = upstream;
  const format = parts.formats[candidate.format];
  if (format === undefined) return { committed: false, failure: transportFailure('connect') };
  const dialect = provider.adapter.dialect({ format: format.id, model: endpoint.upstreamModel });
  const asked = { format, dialect, provider: endpoint.provider, accountId };
  const recalled = await parts.memory.recall(given, asked);
  const request = await media.inline(recalled.request, format, dialect, signal);
  if ('kind' in request) return { committed: false, failure: signal.aborted ? abortFailure(signal) : request };
  const prepared = tryPrepareCall(provider, format, endpoint, request, endUserId);
  if ('kind' in prepared) return { committed: false, failure: prepared };
  const { encoded, context } = prepared;
  attempt.warn(recalled.warnings);
  attempt.warn(encoded.warnings);
  echoes?.push({ provider: candidate.endpoint.providerName, body: encoded.body });
  const outbound = await tryAuthorizeCall(provider, prepared);
  if ('kind' in outbound) return { committed: false, failure: outbound };
  if (signal.aborted) return { committed: false, failure: abortFailure(signal) };

  const { headersMs, wholeMs, firstTokenMs, idleMs } = provider.settings.timeouts;
  const call = new WatchedCall(
    parts.http.call(outbound, () => attempt.sent()),
    signal,
  );
  const { watch } = call;
  const cleaner = new AnswerCleaner(encoded, provider, parts.memory.listen(asked));
  try {
    watch.arm(context.stream ? 'headers' : 'whole', context.stream ? headersMs : wholeMs);
    const answer = await call.answer;
    if (answer.status !== 200) {
      const failure = await readFailure(answer, format, provider, parts.nowMs());
      call.cancel();
      call.finish();
      return { committed: false, failure };
    }
    if (!context.stream || isJson(answer)) {
      if (context.stream) watch.arm('whole', wholeMs);
      const events = isStream(answer, format)
        ? await readStreamed(answer, call, format.createStreamDecoder(dialect))
        : format.decodeWhole(await readText(answer, WHOLE_BODY_BYTES_MAX), dialect);
      call.finish();
      return commitWhole(cleaner.clean(events));
    }
    if (firstTokenMs > 0) watch.arm('first-token', firstTokenMs);
    return await commitStream({ answer, call, decoder: format.createStreamDecoder(dialect), cleaner, idleMs });
  } catch (error) {
    call.cancel();
    call.finish();
    return { committed: false, failure: call.explain(error) };
  }
}

/** At once but for credentials that are had from elsewhere. */
function tryAuthorizeCall(
  provider: Provider,
  prepared: PreparedCall,
): OutboundRequest | UpstreamFailure | Promise<OutboundRequest | UpstreamFailure> {
  try {
    const outbound = authorizeCall(provider, prepared);
    if (!(outbound instanceof Promise)) return outbound;
    return outbound.catch((error: unknown) => credentialFailure(error, provider));
  } catch (error) {
    return credentialFailure(error, provider);
  }
}

/**
 * The reason is for the operator's log: no caller sees an upstream's own words with a status of 5xx.
 * @throws what is no CredentialError: a bug
 */
function credentialFailure(error: unknown, { isByok }: { readonly isByok?: true }): UpstreamFailure {
  if (!(error instanceof CredentialError)) throw error;
  return { ...(isByok === true ? OWN_CREDENTIAL_FAILURE : CREDENTIAL_FAILURE), upstreamMessage: error.message };
}

/** At once but for a credential of the account's own. */
function upstreamOf(
  parts: AttemptParts,
  candidate: Candidate,
): Upstream | UpstreamFailure | Promise<Upstream | UpstreamFailure> {
  const { endpoint, credential } = candidate;
  if (credential !== undefined)
    return parts.ownUpstream(candidate).catch((error: unknown) => credentialFailure(error, { isByok: true }));
  const provider = parts.providers.get(endpoint.provider);
  return provider === undefined ? transportFailure('connect') : { provider, endpoint };
}

/** Some upstreams answer a streamed request with one JSON object: an error, or the whole answer. */
function isJson(answer: InboundAnswer): boolean {
  return answer.headers['content-type']?.startsWith('application/json') === true;
}

async function readFailure(
  answer: InboundAnswer,
  format: UpstreamFormat,
  provider: Provider,
  nowMs: number,
): Promise<UpstreamFailure> {
  const text = await readText(answer, ERROR_BODY_BYTES_MAX).catch(() => '');
  const error = format.decodeError(text, answer.headers);
  const retryAfterMs = readRetryAfterMs(answer.headers, nowMs);
  const failure = { ...classifyStatus(answer.status, error), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return judgeFailure(failure, provider);
}

async function readText(answer: InboundAnswer, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  const only = chunks.length === 1 ? chunks[0] : undefined;
  const whole = only === undefined ? Buffer.concat(chunks) : Buffer.from(only.buffer, only.byteOffset, only.length);
  return whole.toString('utf8');
}

/** Some upstreams answer with a stream whatever was asked: its events fold to the same answer. */
async function readStreamed(answer: InboundAnswer, call: WatchedCall, decoder: StreamDecoder): Promise<EventBatch> {
  const events: GenerationEvent[] = [];
  let bytes = 0;
  try {
    for (let open = true; open && !isLast(events.at(-1));) {
      const chunk = await answer.read();
      open = chunk !== undefined;
      bytes += chunk?.length ?? 0;
      if (bytes > WHOLE_BODY_BYTES_MAX) throw new AnswerTooLarge();
      events.push(...(chunk === undefined ? decoder.end() : decoder.push(chunk)));
    }
    call.release();
  } catch (error) {
    call.cancel();
    // What had come may still be for the caller. generation.md C.4
    events.push({ type: 'failed', failure: call.explain(error) });
  }
  return events;
}

function isStream(answer: InboundAnswer, format: UpstreamFormat): boolean {
  return answer.headers['content-type']?.toLowerCase().startsWith(format.streamType) === true;
}
