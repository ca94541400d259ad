import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';
import type { LoopTurns } from '../../lib/async/loop-turns.ts';
import type { ByteSource } from '../../lib/files/spool.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { HttpClient, InboundAnswer } from '../../lib/net/http-client.ts';
import type { Provider } from '../../providers/contract.ts';
import { NO_ANSWER_ROOM, NoResponseRoom, type ResponseRoom } from '../response/whole-response-budget.ts';
import type { AttemptDeadline } from '../attempt/attempt-deadline.ts';
import type { AttemptLog } from '../attempt/attempt-log.ts';
import { addressOf, authorizeCall } from '../attempt/call-upstream.ts';
import { readFailure, readWhole, type DecodeError } from '../attempt/read-answer.ts';
import { tryAuthorize } from '../attempt/upstream.ts';
import { abortFailure, WatchedCall } from '../attempt/watched-call.ts';
import type { CallContext, OutgoingCall } from '../../providers/contract.ts';

export interface OneCallDeps {
  readonly http: HttpClient;
  /** In which large answers are worked on. */
  readonly turns: LoopTurns;
  /** Wall clock, ms. */
  readonly nowMs: () => number;
}

/** What is sent: JSON, or bytes that are read while they are sent, anew with each call. */
export type CallBody =
  | { readonly json: JsonObject }
  | { readonly source: ByteSource & { readonly contentType: string } };

/** A request to an upstream, in its words. */
export interface UpstreamCall {
  readonly provider: Provider;
  readonly context: CallContext;
  /** Below the provider's base URL. */
  readonly path: string;
  /** Replaces the path of that base URL. */
  readonly basePath?: string;
  /** Another host of the same provider. Absent: that of its base URL. */
  readonly origin?: string;
  /** Absent: POST. */
  readonly method?: OutgoingCall['method'];
  /** Absent: none. */
  readonly body?: CallBody;
  /** Absent: 200 alone is an answer. */
  readonly isAnswer?: (status: number) => boolean;
  /** Absent: JSON. */
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly decodeError: DecodeError;
}

/** What calls of one attempt share. */
export interface CallSpace {
  readonly room: ResponseRoom;
  readonly attempt: Pick<AttemptLog, 'sent' | 'traceHeaders'> & { readonly keyHash: string | undefined };
  readonly deadline: AttemptDeadline;
  readonly cancellation: Cancellation;
}

/** What a call up to its head takes of them. */
export type HeadSpace = Omit<CallSpace, 'room' | 'deadline'> & { readonly deadline: Pick<AttemptDeadline, 'cut'> };

/** An answer that is no failure. What reads it ends `call`. */
export interface OpenAnswer {
  readonly answer: InboundAnswer;
  readonly call: WatchedCall;
}

/**
 * One call, and its answer as a whole. Every failure is a value.
 * @param wholeMs how long all of it may take
 */
export async function callOnce(
  deps: OneCallDeps,
  upstream: UpstreamCall,
  { room, ...space }: CallSpace,
  wholeMs: number,
): Promise<Buffer | UpstreamFailure> {
  const opened = await openCall(deps, upstream, space, { clock: 'whole', ms: wholeMs });
  return 'kind' in opened ? opened : readOpened(deps, opened, { room, ...space }, wholeMs);
}

/** The rest of an answer whose head has come, as a whole. Every failure is a value. */
export async function readOpened(
  deps: Pick<OneCallDeps, 'turns'>,
  { answer, call }: OpenAnswer,
  { room, ...space }: CallSpace,
  wholeMs: number,
): Promise<Buffer | UpstreamFailure> {
  try {
    const { cancellation, deadline } = space;
    const whole = await readWhole(answer, call, {
      room: () => room,
      turns: deps.turns,
      cancellation,
      watch: call.watch,
      wholeMs,
      deadline,
    });
    call.finish();
    return whole;
  } catch (error) {
    call.cancel();
    call.finish();
    return error instanceof NoResponseRoom ? NO_ANSWER_ROOM : call.explain(error);
  }
}

/**
 * One call up to the head of its answer. Every failure is a value.
 * @param limit how long that may take, or the whole of it
 */
export async function openCall(
  deps: Pick<OneCallDeps, 'http' | 'nowMs'>,
  upstream: UpstreamCall,
  { attempt, deadline, cancellation }: HeadSpace,
  limit: { readonly clock: 'whole' | 'headers'; readonly ms: number },
): Promise<OpenAnswer | UpstreamFailure> {
  const { provider, decodeError, isAnswer = isOk } = upstream;
  const outbound = await outboundOf(upstream, attempt);
  if ('kind' in outbound) return outbound;
  if (cancellation.aborted) return abortFailure(cancellation);
  const call = new WatchedCall(
    deps.http.call(outbound, () => attempt.sent()),
    cancellation,
  );
  call.watch.arm(limit.clock, limit.ms, deadline.cut());
  try {
    const answer = await call.answer;
    if (isAnswer(answer.status)) return { answer, call };
    const failure = await readFailure(answer, decodeError, provider, deps.nowMs());
    call.cancel();
    call.finish();
    return failure;
  } catch (error) {
    call.cancel();
    call.finish();
    return call.explain(error);
  }
}

function isOk(status: number): boolean {
  return status === 200;
}

/** The bytes, with the credentials in their headers. */
function outboundOf(
  { provider, context, path, basePath, origin, method = 'POST', body, accept, headers: own }: UpstreamCall,
  attempt: HeadSpace['attempt'],
) {
  const address = addressOf(provider);
  const source = body !== undefined && 'source' in body ? body.source : undefined;
  const json = body !== undefined && 'json' in body ? body.json : undefined;
  const headers = {
    accept: accept ?? 'application/json',
    'accept-encoding': 'identity',
    ...(body !== undefined && { 'content-type': source?.contentType ?? 'application/json' }),
    'user-agent': 'model-gateway',
    ...own,
    ...provider.settings.headers,
    ...attempt.traceHeaders(provider.settings),
  };
  const prepared = {
    encoded: { body: {} },
    context,
    origin: origin ?? address.origin,
    path: (basePath ?? address.basePath) + path,
    headers,
  };
  const change = {
    method,
    ...(attempt.keyHash !== undefined && { keyHash: attempt.keyHash }),
    ...(source !== undefined && { source }),
    ...(json !== undefined && { body: json }),
  };
  return tryAuthorize(provider, () => authorizeCall(provider, prepared, change));
}
