import { classifyStatus, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { FormatId } from '../../canonical/extra.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { HttpClient, InboundAnswer, OutboundRequest } from '../../lib/net/http-client.ts';
import type { JsonObject } from '../../lib/json.ts';
import { LARGE_BYTES, type LoopTurns } from '../../lib/async/loop-turns.ts';
import { parseRetryAfterMs } from '../../lib/net/retry-after.ts';
import { CredentialError, type CallContext, type Provider } from '../../providers/contract.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Dialect, StreamDecoder, UpstreamFormat } from '../../wire/format.ts';
import type { AttemptDeadline } from './attempt-deadline.ts';
import type { ResponseMemory, RequestedEndpoint } from '../replay/replay-memory.ts';
import {
  LARGE_ANSWER_BYTES,
  NO_ANSWER_ROOM,
  NoResponseRoom,
  type ResponseRoom,
} from '../response/whole-response-budget.ts';
import { authorizeCall, tryPrepareCall, type PreparedCall } from './call-upstream.ts';
import { ResponseCleaner } from './response/clean-response.ts';
import { commitStream, commitWhole, isLast, type AttemptOutcome } from './first-content.ts';
import type { MediaInliner } from './request/inline-media.ts';
import { judgeFailure } from './judge-failure.ts';
import { dialectOf, learnsReasoningMember } from '../replay/reasoning-history.ts';
import type { Watch } from './watchdog.ts';
import { abortFailure, ResponseTooLarge, WatchedCall } from './watched-call.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

export interface AttemptDeps {
  readonly http: HttpClient;
  readonly formats: Readonly<Partial<Record<FormatId, UpstreamFormat>>>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** The provider with the candidate's own credential. @throws CredentialError */
  readonly byokUpstream: (candidate: Candidate) => Promise<Upstream>;
  readonly memory: ResponseMemory;
  /** In which large requests and answers are worked on. */
  readonly turns: LoopTurns;
  /** Wall clock, ms. */
  readonly nowMs: () => number;
}

/** The provider that is called, and the endpoint. */
export interface Upstream {
  readonly provider: Provider;
  /** As it is called there: a credential may have another name for the model. */
  readonly endpoint: Endpoint;
}

/** What every attempt of one request shares. */
export interface AttemptRequest {
  readonly request: GenerationRequest;
  /** It is worked on in steps. */
  readonly isLarge: boolean;
  /** Hash of account and end user. */
  readonly endUserId: string;
  /** Of the caller's account and workspace. */
  readonly scope: string;
  readonly media: MediaInliner;
  /** For a large answer that comes as a whole. */
  readonly room: ResponseRoom;
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
 * @param cancellation aborted when the caller is gone or the request's time is up
 */
export async function makeAttempt(
  deps: AttemptDeps,
  candidate: Candidate,
  { request: given, isLarge, endUserId, scope, media, room, echoes }: AttemptRequest,
  attempt: Pick<AttemptLog, 'warn' | 'sent'>,
  deadline: AttemptDeadline,
  cancellation: Cancellation,
): Promise<AttemptOutcome> {
  const found = upstreamOf(deps, candidate);
  const upstream = found instanceof Promise ? await found : found;
  if ('kind' in upstream) return { committed: false, failure: upstream };
  const { provider, endpoint } = upstream;
  const format = deps.formats[candidate.format];
  if (format === undefined) return { committed: false, failure: transportFailure('connect') };
  const known = dialectOf(provider, format.id, endpoint);
  const requested: RequestedEndpoint = {
    format,
    dialect: known,
    provider: endpoint.provider,
    model: endpoint.upstreamModel,
    scope,
    learnsReasoningMember: learnsReasoningMember(format.id, known, endpoint),
  };
  const turns = isLarge ? deps.turns : undefined;
  if (turns !== undefined) await turns.next();
  const recalling = deps.memory.recall(given, requested);
  const recalled = recalling instanceof Promise ? await recalling : recalling;
  const { reasoningMember } = recalled;
  const dialect = reasoningMember === undefined ? known : { ...known, reasoningMember };
  const inlined = media.inline(recalled.request, format, dialect, cancellation);
  const request = inlined instanceof Promise ? await inlined : inlined;
  if ('kind' in request)
    return { committed: false, failure: cancellation.aborted ? abortFailure(cancellation) : request };
  if (turns !== undefined) await turns.next();
  const prepared = tryPrepareCall(provider, format, endpoint, request, endUserId, dialect);
  if ('kind' in prepared) return { committed: false, failure: prepared };
  const { encoded, context } = prepared;
  attempt.warn(recalled.warnings);
  attempt.warn(encoded.warnings);
  echoes?.push({ provider: candidate.endpoint.providerName, body: encoded.body });
  if (turns !== undefined) await turns.next();
  const authorizing = tryAuthorizeCall(provider, prepared);
  const outbound = authorizing instanceof Promise ? await authorizing : authorizing;
  if ('kind' in outbound) return { committed: false, failure: outbound };
  if ((outbound.body?.length ?? 0) >= LARGE_BYTES) await deps.turns.next();
  if (cancellation.aborted) return { committed: false, failure: abortFailure(cancellation) };

  deadline.start();
  const call = new WatchedCall(
    deps.http.call(outbound, () => attempt.sent()),
    cancellation,
  );
  const cleaner = new ResponseCleaner(encoded, provider, deps.memory.listen(given, requested));
  const { wholeMs } = provider.settings.timeouts;
  const space = { room, turns: deps.turns, cancellation, watch: call.watch, wholeMs, deadline };
  try {
    return await readOutcome(call, { provider, format, dialect, context, cleaner, space, nowMs: deps.nowMs });
  } catch (error) {
    call.cancel();
    call.finish();
    const failure = error instanceof NoResponseRoom ? NO_ANSWER_ROOM : call.explain(error);
    return { committed: false, failure };
  }
}

interface SentCall {
  readonly provider: Provider;
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
  readonly context: CallContext;
  readonly cleaner: ResponseCleaner;
  readonly space: Space;
  readonly nowMs: () => number;
}

/** The answer up to its first content; as a whole where it is not streamed. @throws what the call broke off with */
async function readOutcome(
  call: WatchedCall,
  { provider, format, dialect, context, cleaner, space, nowMs }: SentCall,
): Promise<AttemptOutcome> {
  const { headersMs, wholeMs, firstTokenMs, idleMs } = provider.settings.timeouts;
  const { watch } = call;
  const { deadline } = space;
  watch.arm(context.stream ? 'headers' : 'whole', context.stream ? headersMs : wholeMs, deadline.cut());
  const answer = await call.answer;
  if (answer.status !== 200) {
    const failure = await readFailure(answer, format, provider, nowMs());
    call.cancel();
    call.finish();
    return { committed: false, failure };
  }
  if (!context.stream || isJson(answer)) {
    if (context.stream) watch.arm('whole', wholeMs, deadline.cut());
    const events = isStream(answer, format)
      ? await readStreamed(answer, call, format.createStreamDecoder(dialect), space)
      : format.decodeWhole(await readWhole(answer, call, space), dialect);
    call.finish();
    return commitWhole(cleaner.clean(events));
  }
  if (firstTokenMs > 0) watch.arm('first-token', firstTokenMs, deadline.cut());
  return await commitStream({ answer, call, decoder: format.createStreamDecoder(dialect), cleaner, idleMs });
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
  deps: AttemptDeps,
  candidate: Candidate,
): Upstream | UpstreamFailure | Promise<Upstream | UpstreamFailure> {
  const { endpoint, credential } = candidate;
  if (credential !== undefined)
    return deps.byokUpstream(candidate).catch((error: unknown) => credentialFailure(error, { isByok: true }));
  const provider = deps.providers.get(endpoint.provider);
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
  const retryAfterMs = parseRetryAfterMs(answer.headers, nowMs);
  const failure = { ...classifyStatus(answer.status, error), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return judgeFailure(failure, provider);
}

/** Where a large answer finds memory, and the time limits that do not count the wait for it. */
interface Space {
  readonly room: ResponseRoom;
  readonly turns: LoopTurns;
  readonly cancellation: Cancellation;
  readonly watch: Watch;
  readonly wholeMs: number;
  readonly deadline: AttemptDeadline;
}

/** While the gateway has no memory for an answer its upstream is not slow: most of the answer may be here already. */
async function takeRoom(
  { room, cancellation, watch, wholeMs, deadline }: Space,
  answer: InboundAnswer,
  bytes: number,
): Promise<void> {
  watch.hold(true);
  answer.isKept = true;
  await deadline.leaveOut(room.take(bytes, cancellation.signal));
  answer.isKept = false;
  watch.hold(false);
  watch.arm('whole', wholeMs);
}

async function readWhole(answer: InboundAnswer, call: WatchedCall, space: Space): Promise<string> {
  const text = await readText(answer, largestResponse(space), space);
  if (text.length < LARGE_ANSWER_BYTES) return text;
  // All of it is here: what it waits for now is no fault of its upstream.
  call.finish();
  await space.turns.next();
  return text;
}

async function readText(answer: InboundAnswer, bytesMax: number, space?: Space): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new ResponseTooLarge();
    const isLarge = crossesLarge(bytes - chunk.length, bytes);
    if (isLarge && space !== undefined) await takeRoom(space, answer, sizeOf(answer, bytesMax));
    chunks.push(chunk);
  }
  const only = chunks.length === 1 ? chunks[0] : undefined;
  const whole = only === undefined ? Buffer.concat(chunks) : Buffer.from(only.buffer, only.byteOffset, only.length);
  return whole.toString('utf8');
}

function crossesLarge(before: number, bytes: number): boolean {
  return bytes > LARGE_ANSWER_BYTES && before <= LARGE_ANSWER_BYTES;
}

function largestResponse({ room }: Space): number {
  return Math.min(WHOLE_BODY_BYTES_MAX, room.bytesMax);
}

/** As large as it says that it is, or else as it may be. */
function sizeOf({ headers }: InboundAnswer, bytesMax: number): number {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  return length === undefined || encoding !== undefined ? bytesMax : Math.min(Number(length), bytesMax);
}

/** Some upstreams respond with a stream whatever the request says: its events fold to the same response. */
async function readStreamed(
  answer: InboundAnswer,
  call: WatchedCall,
  decoder: StreamDecoder,
  space: Space,
): Promise<EventBatch> {
  const events: GenerationEvent[] = [];
  const bytesMax = largestResponse(space);
  let bytes = 0;
  try {
    for (let open = true; open && !isLast(events.at(-1));) {
      const chunk = await call.readOn(answer, decoder);
      open = chunk !== undefined;
      const before = bytes;
      bytes += chunk?.length ?? 0;
      if (bytes > bytesMax) throw new ResponseTooLarge();
      if (crossesLarge(before, bytes)) await takeRoom(space, answer, bytesMax);
      events.push(...(chunk === undefined ? decoder.end() : decoder.push(chunk)));
    }
    call.release();
  } catch (error) {
    call.cancel();
    if (error instanceof NoResponseRoom) throw error;
    // What had come may still be for the caller. @spec chat-response-13
    events.push({ type: 'failed', failure: call.explain(error) });
  }
  return events;
}

function isStream(answer: InboundAnswer, format: UpstreamFormat): boolean {
  return answer.headers['content-type']?.toLowerCase().startsWith(format.streamType) === true;
}
