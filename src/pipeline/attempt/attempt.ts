import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import { isTextOnly } from '../../canonical/text-only.ts';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { FormatId } from '../../canonical/extra.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { HttpClient, InboundAnswer } from '../../lib/net/http-client.ts';
import type { JsonObject } from '../../lib/json.ts';
import { LARGE_BYTES, type LoopTurns } from '../../lib/async/loop-turns.ts';
import type { CallContext, Provider } from '../../providers/contract.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Dialect, StreamDecoder, UpstreamFormat } from '../../wire/format.ts';
import type { AttemptDeadline } from './attempt-deadline.ts';
import { withPlainMcpCalls } from '../replay/plain-mcp-calls.ts';
import type { ResponseMemory, RequestedEndpoint } from '../replay/replay-memory.ts';
import { NO_ANSWER_ROOM, NoResponseRoom, type ResponseRoom } from '../response/whole-response-budget.ts';
import { authorizeCall, tryPrepareCall, unsayable } from './call-upstream.ts';
import { ResponseCleaner } from './response/clean-response.ts';
import { commitStream, commitWhole, isLast, type AttemptOutcome } from './first-content.ts';
import type { MediaInliner } from './request/inline-media.ts';
import { crossesLarge, largestResponse, readFailure, readWhole, takeRoom, type Space } from './read-answer.ts';
import { dialectOf, learnsReasoningMember } from '../replay/reasoning-history.ts';
import { tryAuthorize, upstreamOf, type Upstream, type UpstreamDeps } from './upstream.ts';
import { abortFailure, ResponseTooLarge, WatchedCall } from './watched-call.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

export interface AttemptDeps extends UpstreamDeps {
  readonly http: HttpClient;
  readonly formats: Readonly<Partial<Record<FormatId, UpstreamFormat>>>;
  readonly memory: ResponseMemory;
  /** In which large requests and answers are worked on. */
  readonly turns: LoopTurns;
  /** Wall clock, ms. */
  readonly nowMs: () => number;
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
  /** Fetches files that an upstream does not open by itself. Made when it is first called. */
  readonly media: () => MediaInliner;
  /** For a large answer that comes as a whole. Made when it is first called. */
  readonly room: () => ResponseRoom;
  /** Takes the bodies that go upstream. Absent: the caller did not ask to see them. */
  readonly echoes: UpstreamEcho[] | undefined;
}

/** What went upstream, without credentials. */
export interface UpstreamEcho {
  /** Display name. */
  readonly provider: string;
  readonly body: JsonObject;
}

/**
 * Sends the request to one candidate and waits for its first content. Every failure until then is a value.
 * @param cancellation aborted when the caller is gone or the request's time is up
 */
export async function makeAttempt(
  deps: AttemptDeps,
  candidate: Candidate,
  { request: given, isLarge, endUserId, scope, media, room, echoes }: AttemptRequest,
  attempt: Pick<AttemptLog, 'warn' | 'sent' | 'traceHeaders' | 'keyHash'>,
  deadline: AttemptDeadline,
  cancellation: Cancellation,
): Promise<AttemptOutcome> {
  const { keyHash } = attempt;
  const found = upstreamOf(deps, candidate, keyHash);
  const upstream = found instanceof Promise ? await found : found;
  if ('kind' in upstream) return { committed: false, failure: upstream };
  const { provider, endpoint } = upstream;
  const format = deps.formats[candidate.format];
  if (format === undefined) return { committed: false, failure: transportFailure('connect') };
  const requested = requestedEndpoint(format, upstream, scope);
  const { dialect: known } = requested;
  const turns = isLarge ? deps.turns : undefined;
  if (turns !== undefined) await turns.next();
  const recalling = deps.memory.recall(withPlainMcpCalls(given, format, known), requested);
  const recalled = recalling instanceof Promise ? await recalling : recalling;
  const { reasoningMember, refusal } = recalled;
  if (refusal !== undefined) return { committed: false, failure: unsayable(refusal) };
  const dialect = reasoningMember === undefined ? known : { ...known, reasoningMember };
  const inlined = isTextOnly(recalled.request)
    ? recalled.request
    : media().inline(recalled.request, format, dialect, cancellation);
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
  const authorizing = tryAuthorize(provider, () => {
    if (provider.settings.sendsTraceContext !== true) return authorizeCall(provider, prepared, { keyHash });
    const headers = { ...prepared.headers, ...attempt.traceHeaders(provider.settings) };
    return authorizeCall(provider, { ...prepared, headers }, { keyHash });
  });
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
  const { headersMs, wholeMs } = provider.settings.timeouts;
  const space = { room, turns: deps.turns, cancellation, watch: call.watch, wholeMs, deadline };
  try {
    call.watch.arm(context.stream ? 'headers' : 'whole', context.stream ? headersMs : wholeMs, deadline.cut());
    const sent = { provider, format, dialect, context, cleaner, space, nowMs: deps.nowMs };
    const outcome = readOutcome(await call.answer, call, sent);
    return outcome instanceof Promise ? await outcome : outcome;
  } catch (error) {
    call.cancel();
    call.finish();
    const failure = error instanceof NoResponseRoom ? NO_ANSWER_ROOM : call.explain(error);
    return { committed: false, failure };
  }
}

function requestedEndpoint(format: UpstreamFormat, { provider, endpoint }: Upstream, scope: string): RequestedEndpoint {
  const dialect = dialectOf(provider, format.id, endpoint);
  return {
    format,
    dialect,
    provider: endpoint.provider,
    model: endpoint.upstreamModel,
    scope,
    learnsReasoningMember: learnsReasoningMember(format.id, dialect, endpoint),
  };
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

/**
 * The answer up to its first content; as a whole where it is not streamed, and at once where all of it is here.
 * @throws what the call broke off with; thrown or as a rejection
 */
function readOutcome(
  answer: InboundAnswer,
  call: WatchedCall,
  sent: SentCall,
): AttemptOutcome | Promise<AttemptOutcome> {
  const { provider, format, dialect, context, cleaner, space } = sent;
  const { wholeMs, firstTokenMs, idleMs } = provider.settings.timeouts;
  const { watch } = call;
  if (answer.status !== 200) return readRefusal(answer, call, sent);
  if (!context.stream || isJson(answer)) {
    if (context.stream) watch.arm('whole', wholeMs, space.deadline.cut());
    const commit = (read: Buffer | EventBatch): AttemptOutcome => {
      const events = Buffer.isBuffer(read) ? format.decodeWhole(read.toString('utf8'), dialect) : read;
      call.finish();
      return commitWhole(cleaner.clean(events));
    };
    const reading = isStream(answer, format)
      ? readStreamed(answer, call, format.createStreamDecoder(dialect), space)
      : readWhole(answer, call, space);
    return reading instanceof Promise ? reading.then(commit) : commit(reading);
  }
  if (firstTokenMs > 0) watch.arm('first-token', firstTokenMs, space.deadline.cut());
  return commitStream({ answer, call, decoder: format.createStreamDecoder(dialect), cleaner, idleMs });
}

async function readRefusal(
  answer: InboundAnswer,
  call: WatchedCall,
  { provider, format, nowMs }: SentCall,
): Promise<AttemptOutcome> {
  const failure = await readFailure(answer, format.decodeError.bind(format), provider, nowMs());
  call.cancel();
  call.finish();
  return { committed: false, failure };
}

/** Some upstreams answer a streamed request with one JSON object: an error, or the whole answer. */
function isJson(answer: InboundAnswer): boolean {
  return answer.headers['content-type']?.startsWith('application/json') === true;
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
