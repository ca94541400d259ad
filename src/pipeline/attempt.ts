import { classifyErrorEvent, classifyStatus, timeoutFailure, transportFailure } from '../canonical/classify-failure.ts';
import { failureOfMeaning, MEANINGS } from '../canonical/failure-meaning.ts';
import type { EventBatch, EventSource, GenerationEvent } from '../canonical/events.ts';
import type { FormatId, Warning } from '../canonical/extra.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { Endpoint } from '../catalog/model.ts';
import { TransportError, type Call, type HttpClient, type InboundAnswer } from '../lib/http-client.ts';
import type { JsonObject } from '../lib/json.ts';
import { readRetryAfterMs } from '../lib/retry-delay.ts';
import { CredentialError, type Provider } from '../providers/contract.ts';
import type { Candidate } from '../routing/plan.ts';
import type { Dialect, UpstreamFormat } from '../wire/format.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { authorizeCall, tryPrepareCall } from './call-upstream.ts';
import { createLimitEnding } from './end-at-limit.ts';
import type { MediaInliner } from './inline-media.ts';
import { isContent } from './is-content.ts';
import { judgeFailure } from './judge-failure.ts';
import { createAnswerToolRestorer } from './restore-answer-tool.ts';
import { restoreToolNames } from './restore-tool-names.ts';
import { createWatch, type Watch } from './watch.ts';

/** What one attempt came to. Only a committed one has anything for the caller; after that nobody else may try. */
export type AttemptOutcome =
  | { readonly committed: true; readonly source: EventSource }
  | {
      readonly committed: false;
      readonly failure: UpstreamFailure;
      /** A whole answer that broke off. Nobody has seen it: it is for the caller when no other may try. generation.md C.4 */
      readonly partial?: EventSource;
    };

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
}

/** One attempt, as seen by those who watch it. */
export interface AttemptObserver {
  /** The request is about to leave. @param body what goes upstream, without credentials */
  onEncoded(body: JsonObject, warnings: readonly Warning[]): void;
  /** It goes out: from now on the provider may work, and charge, for it. */
  onSent(): void;
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
/** After the last event an upstream may take this long to close; then its connection is dropped. */
const LINGER_MS = 5_000;

/**
 * Sends the request to one candidate and waits for its first content. Every failure until then is a value.
 * @param signal aborted when the caller is gone or the request's time is up
 */
export async function makeAttempt(
  parts: AttemptParts,
  candidate: Candidate,
  { request: given, endUserId, accountId, media }: AttemptRequest,
  observer: AttemptObserver,
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
  observer.onEncoded(encoded.body, [...recalled.warnings, ...encoded.warnings]);
  const outbound = await authorizeCall(provider, prepared).catch((error: unknown) =>
    credentialFailure(error, provider),
  );
  if ('kind' in outbound) return { committed: false, failure: outbound };
  if (signal.aborted) return { committed: false, failure: abortFailure(signal) };

  const { timeouts } = provider.settings;
  const call = parts.http.call(outbound, () => observer.onSent());
  const watch = createWatch(() => call.cancel());
  const onAbort = (): void => call.cancel();
  signal.addEventListener('abort', onAbort, { once: true });
  const finish = (): void => {
    watch.disarm();
    signal.removeEventListener('abort', onAbort);
  };
  const restoreAnswerTool = createAnswerToolRestorer(encoded.answerTool);
  const endAtLimit = createLimitEnding();
  const listen = parts.memory.listen(asked);
  const clean = (batch: EventBatch): EventBatch => {
    const cleaned = endAtLimit(judgeBatch(restoreToolNames(restoreAnswerTool(batch), encoded.toolNames), provider));
    listen?.(cleaned);
    return cleaned;
  };
  const failureFrom = (error: unknown): UpstreamFailure => explain(error, watch, signal);
  try {
    watch.arm(context.stream ? 'headers' : 'whole', context.stream ? timeouts.headersMs : timeouts.wholeMs);
    const answer = await call.answer;
    if (answer.status !== 200) {
      const failure = await readFailure(answer, format, provider, parts.nowMs());
      call.cancel();
      finish();
      return { committed: false, failure };
    }
    if (!context.stream || isJson(answer)) {
      if (context.stream) watch.arm('whole', timeouts.wholeMs);
      const events = isStream(answer, format)
        ? await readStreamed({ answer, call, format, dialect, failureFrom })
        : format.decodeWhole(await readText(answer, WHOLE_BODY_BYTES_MAX), dialect);
      finish();
      return commitWhole(clean(events));
    }
    if (timeouts.firstTokenMs > 0) watch.arm('first-token', timeouts.firstTokenMs);
    const { idleMs } = timeouts;
    return await commitStream({ answer, call, format, dialect, watch, idleMs, clean, finish, failureFrom });
  } catch (error) {
    call.cancel();
    finish();
    return { committed: false, failure: failureFrom(error) };
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

async function upstreamOf(parts: AttemptParts, candidate: Candidate): Promise<Upstream | UpstreamFailure> {
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

/** A failure is the last event of its answer. */
function judgeBatch(batch: EventBatch, provider: Provider): EventBatch {
  const last = batch.at(-1);
  if (last?.type !== 'failed') return batch;
  return batch.with(batch.length - 1, { type: 'failed', failure: judgeFailure(last.failure, provider) });
}

class BodyTooLarge extends Error {}

async function readText(answer: InboundAnswer, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  const only = chunks.length === 1 ? chunks[0] : undefined;
  const whole = only === undefined ? Buffer.concat(chunks) : Buffer.from(only.buffer, only.byteOffset, only.length);
  return whole.toString('utf8');
}

/** Some upstreams answer with a stream whatever was asked: its events fold to the same answer. */
async function readStreamed({
  answer,
  call,
  format,
  dialect,
  failureFrom,
}: Pick<OpenStream, 'answer' | 'call' | 'format' | 'dialect' | 'failureFrom'>): Promise<EventBatch> {
  const decoder = format.createStreamDecoder(dialect);
  const events: GenerationEvent[] = [];
  let bytes = 0;
  try {
    for (let open = true; open && !isLast(events.at(-1));) {
      const chunk = await answer.read();
      open = chunk !== undefined;
      bytes += chunk?.length ?? 0;
      if (bytes > WHOLE_BODY_BYTES_MAX) throw new BodyTooLarge();
      events.push(...(chunk === undefined ? decoder.end() : decoder.push(chunk)));
    }
    cancelLater(call);
  } catch (error) {
    call.cancel();
    // What had come may still be for the caller. generation.md C.4
    events.push({ type: 'failed', failure: failureFrom(error) });
  }
  return events;
}

function isStream(answer: InboundAnswer, format: UpstreamFormat): boolean {
  return answer.headers['content-type']?.toLowerCase().startsWith(format.streamType) === true;
}

function isLast(event: GenerationEvent | undefined): boolean {
  return event?.type === 'end' || event?.type === 'failed';
}

/** After the last event: whatever the upstream still sends is nobody's. */
function cancelLater(call: Call): void {
  call.release(LINGER_MS);
}

function explain(error: unknown, watch: Watch, signal: AbortSignal): UpstreamFailure {
  if (watch.expired !== undefined) return timeoutFailure(watch.expired);
  if (signal.aborted) return abortFailure(signal);
  if (error instanceof BodyTooLarge || error instanceof RangeError) return transportFailure('too-large');
  if (!(error instanceof TransportError)) throw error;
  if (error.kind === 'connect-timeout') return timeoutFailure('connect');
  if (error.kind === 'protocol') return transportFailure('garbage');
  return transportFailure(error.kind);
}

/** The total limit aborts with its clock's name as the reason; a caller who hangs up with none. */
function abortFailure(signal: AbortSignal): UpstreamFailure {
  return signal.reason === 'total' ? timeoutFailure('total') : transportFailure('aborted');
}

function commitWhole(events: EventBatch): AttemptOutcome {
  let given = false;
  const source: EventSource = {
    read: () => {
      const batch = given ? undefined : events;
      given = true;
      return Promise.resolve(batch);
    },
    cancel: () => undefined,
  };
  const failure = brokenOff(events);
  if (failure !== undefined) return { committed: false, failure, ...(events.some(isContent) && { partial: source }) };
  const refusal = refusedOutright(events);
  if (refusal !== undefined) return { committed: false, failure: refusal, partial: source };
  return { committed: true, source };
}

const SERVER_ERROR = 500;

/** An answer may fail, or end with an error for its reason, which says no more than that. */
function brokenOff(events: EventBatch): UpstreamFailure | undefined {
  const last = events.findLast((event) => event.type === 'failed' || event.type === 'end');
  if (last?.type === 'failed') return last.failure;
  return last?.finish === 'error' ? classifyErrorEvent(SERVER_ERROR, {}) : undefined;
}

/**
 * An answer that says nothing but that there will be none. Another model may answer where the caller named one; else this
 * is the answer. @source generation.md 3.7, pains.md 9
 */
function refusedOutright(events: EventBatch): UpstreamFailure | undefined {
  const end = events.findLast((event) => event.type === 'end');
  if (end?.finish !== 'content_filter' || events.some(isContent)) return undefined;
  return { kind: 'error-event', ...failureOfMeaning(MEANINGS.refused) };
}

interface OpenStream {
  readonly answer: InboundAnswer;
  readonly call: Call;
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
  readonly watch: Watch;
  readonly idleMs: number;
  /** What every batch passes before anyone else sees it. */
  readonly clean: (batch: EventBatch) => EventBatch;
  readonly finish: () => void;
  readonly failureFrom: (error: unknown) => UpstreamFailure;
}

/** Reads until the first content: lifecycle frames alone commit to nothing (pains.md 2 and 3). */
async function commitStream(stream: OpenStream): Promise<AttemptOutcome> {
  const source = streamSource(stream);
  const held: GenerationEvent[] = [];
  for (;;) {
    const batch = await source.read();
    if (batch === undefined) return { committed: false, failure: transportFailure('early-end') };
    held.push(...batch);
    if (held.some(isContent)) break;
    const failure = brokenOff(held);
    if (failure !== undefined) {
      source.cancel();
      return { committed: false, failure };
    }
    if (held.some((event) => event.type === 'end')) break;
  }
  const refusal = refusedOutright(held);
  if (refusal !== undefined) return { committed: false, failure: refusal, partial: startingWith(held, source) };
  stream.watch.arm('idle', stream.idleMs);
  stream.watch.hold(true);
  return { committed: true, source: startingWith(held, source) };
}

function startingWith(held: EventBatch, source: EventSource): EventSource {
  let first: EventBatch | undefined = held;
  return {
    read() {
      if (first === undefined) return source.read();
      const batch = first;
      first = undefined;
      return Promise.resolve(batch);
    },
    cancel: () => source.cancel(),
  };
}

function streamSource(stream: OpenStream): EventSource {
  const { answer, call, watch, clean, finish, failureFrom } = stream;
  const decoder = stream.format.createStreamDecoder(stream.dialect);
  let over = false;

  function close(): void {
    over = true;
    finish();
    cancelLater(call);
  }

  function closeAfterLast(batch: EventBatch): EventBatch {
    const last = batch.at(-1);
    if (last?.type === 'failed') call.cancel();
    if (isLast(last)) close();
    return clean(batch);
  }

  return {
    async read() {
      while (!over) {
        try {
          watch.hold(false);
          watch.restart();
          const chunk = await answer.read();
          watch.hold(true);
          const batch = chunk === undefined ? decoder.end() : decoder.push(chunk);
          if (chunk === undefined && batch.length === 0) close();
          if (batch.length > 0) return closeAfterLast(batch);
        } catch (error) {
          call.cancel();
          return closeAfterLast([{ type: 'failed', failure: failureFrom(error) }]);
        }
      }
      return undefined;
    },
    cancel() {
      over = true;
      finish();
      call.cancel();
    },
  };
}
