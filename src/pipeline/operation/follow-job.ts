import { setTimeout as sleep } from 'node:timers/promises';
import { timeoutFailure, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { Cancellation } from '../../lib/async/cancellation.ts';
import { parseJsonObject } from '../../lib/json.ts';
import { NotThatJson } from '../../lib/json/walk-bytes.ts';
import { parseRetryAfterMs } from '../../lib/net/retry-after.ts';
import type { Provider } from '../../providers/contract.ts';
import type { FollowJob, VendorCall, VendorStep, VendorWait } from '../../wire/operations/job.ts';
import { addressOf } from '../attempt/call-upstream.ts';
import { abortFailure } from '../attempt/watched-call.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { openCall, readOpened, type CallSpace, type OneCallDeps, type UpstreamCall } from './one-call.ts';

export interface FollowJobDeps extends OneCallDeps {
  readonly monotonicMs: () => number;
}

interface FollowInput<Target> {
  readonly follow: FollowJob<Target>;
  readonly target: Target;
  /** The answer to the call that began the job. */
  readonly first: JobAnswer;
  /** How the provider was called. */
  readonly upstream: UpstreamCall;
  readonly space: Omit<CallSpace, 'room'>;
  readonly memory: AnswerMemory;
  /** Of the job, from its first answer on. */
  readonly wholeMs: number;
}

/** Before the first look; each later pause is half as long again. */
const FIRST_PAUSE_MS = 500;
const PAUSE_FACTOR = 1.5;
const PAUSE_MS_MAX = 3_000;
/** A vendor may ask for a longer pause, within the time of the attempt. */
const RETRY_AFTER_MS_MAX = 10_000;
/** Looks in a row that may fail: the job goes on meanwhile. */
const FAILED_LOOKS_MAX = 5;
const CALL_APART_MS = 10_000;
/** An answer that says how a job stands is small; a larger one is its result. */
const STATE_BYTES_MAX = 1_048_576;
const ANSWER_COPIES = 2;

/**
 * Follows a job of a vendor inside one attempt, until it is over or the time of the attempt is. Every failure is a value.
 * @returns the answer that says what came of it
 * @spec image-16
 */
export async function followJob<Target>(
  deps: FollowJobDeps,
  input: FollowInput<Target>,
): Promise<Buffer | UpstreamFailure> {
  const { follow, target, first, space, wholeMs } = input;
  const untilMs = deps.monotonicMs() + wholeMs;
  let looked: Looked = first;
  let waiting: VendorWait | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let failedLooks = 0;
  for (;;) {
    const step: VendorStep | undefined = 'kind' in looked ? waiting : stepAfter(follow, looked.answer, waiting, target);
    if (step === undefined) return transportFailure('garbage');
    if (step.next === 'read') {
      void callApart(deps, input, waiting?.forget);
      return 'kind' in looked ? looked : looked.answer;
    }
    if (step.next === 'wait') {
      waiting = step;
      const ended = await pause(deps, space, pauseOf(looked, pauseMs), untilMs);
      if (ended !== undefined) {
        void callApart(deps, input, waiting.cancel);
        return ended;
      }
      pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * PAUSE_FACTOR);
    }
    looked = await look(deps, input, step.call, untilMs);
    if (!('kind' in looked)) failedLooks = 0;
    else if (
      space.cancellation.aborted ||
      !mayPass(looked) ||
      waiting === undefined ||
      ++failedLooks > FAILED_LOOKS_MAX
    ) {
      if (waiting !== undefined && space.cancellation.aborted) void callApart(deps, input, waiting.cancel);
      return looked;
    }
  }
}

/** An answer about a job, and how long the vendor wants to be left alone. */
export interface JobAnswer {
  readonly answer: Buffer;
  readonly retryAfterMs: number | undefined;
}

type Looked = JobAnswer | UpstreamFailure;

function stepAfter<Target>(
  follow: FollowJob<Target>,
  answer: Buffer,
  waiting: VendorWait | undefined,
  target: Target,
): VendorStep | undefined {
  try {
    const isSmall = answer.length <= STATE_BYTES_MAX;
    return follow(isSmall ? parseJsonObject(answer.toString('utf8')) : undefined, waiting, target);
  } catch (error) {
    if (error instanceof NotThatJson) return undefined;
    throw error;
  }
}

function pauseOf(looked: Looked, pauseMs: number): number {
  const { retryAfterMs } = looked;
  return retryAfterMs === undefined ? pauseMs : Math.min(retryAfterMs, RETRY_AFTER_MS_MAX);
}

/** @returns why there is no next look */
async function pause(
  deps: FollowJobDeps,
  { cancellation }: FollowInput<unknown>['space'],
  ms: number,
  untilMs: number,
): Promise<UpstreamFailure | undefined> {
  if (deps.monotonicMs() + ms >= untilMs) return timeoutFailure('whole');
  if (!cancellation.aborted) {
    const over = new AbortController();
    const end = (): void => over.abort();
    cancellation.onAbort(end);
    await sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
    cancellation.offAbort(end);
  }
  return cancellation.aborted ? abortFailure(cancellation) : undefined;
}

/** A look that failed says nothing of the job, unless the vendor refuses it. */
function mayPass({ kind, upstreamStatus: status }: UpstreamFailure): boolean {
  if (status === undefined) return PASSING.has(kind);
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

const PASSING: ReadonlySet<UpstreamFailure['kind']> = new Set(['connect', 'reset', 'timeout', 'early-end']);

async function look<Target>(
  deps: FollowJobDeps,
  { upstream, space, memory }: FollowInput<Target>,
  call: VendorCall,
  untilMs: number,
): Promise<Looked> {
  const address = addressFor(upstream.provider, call);
  if (address === undefined) return transportFailure('garbage');
  const ms = Math.max(1, untilMs - deps.monotonicMs());
  const opened = await openCall(deps, callOf(upstream, call, address), space, { clock: 'whole', ms });
  if ('kind' in opened) return opened;
  const retryAfterMs = parseRetryAfterMs(opened.answer.headers, deps.nowMs());
  const room = memory.open(ANSWER_COPIES);
  const answer = await readOpened(deps, opened, { room, ...space }, ms);
  if ('kind' in answer) return answer;
  room.shrink(answer.length);
  return { answer, retryAfterMs };
}

interface JobAddress {
  readonly path: string;
  readonly origin?: string;
  readonly basePath?: string;
}

function callOf({ provider, context, decodeError }: UpstreamCall, call: VendorCall, address: JobAddress): UpstreamCall {
  return {
    provider,
    context,
    ...address,
    method: call.method,
    ...(call.body !== undefined && { body: { json: call.body } }),
    isAnswer: (status) => status >= 200 && status < 300,
    decodeError,
  };
}

/**
 * An address that an answer named gets the credential of the provider: so it must be one of its own hosts.
 * @returns `undefined` for any other
 */
function addressFor(provider: Provider, { at }: VendorCall): JobAddress | undefined {
  if ('path' in at) return at;
  const url = URL.parse(at.url);
  if (url === null) return undefined;
  const { origin, pathname, search, protocol, hostname } = url;
  const own = addressOf(provider).origin;
  const { ownHosts } = provider.adapter;
  // The hosts of a vendor belong together; an operator's address stands for itself alone.
  const isKin = protocol === 'https:' && ownHosts?.test(hostname) === true && ownHosts.test(new URL(own).hostname);
  return origin === own || isKin ? { path: pathname + search, basePath: '', origin } : undefined;
}

/** Beside the request, and after its end: what comes of it makes no difference to the caller. */
async function callApart<Target>(
  deps: FollowJobDeps,
  { upstream, space }: FollowInput<Target>,
  call: VendorCall | undefined,
): Promise<void> {
  const address = call && addressFor(upstream.provider, call);
  if (call === undefined || address === undefined) return;
  const alone = { attempt: space.attempt, deadline: { cut: () => undefined }, cancellation: new Cancellation() };
  const opened = await openCall(deps, callOf(upstream, call, address), alone, { clock: 'headers', ms: CALL_APART_MS });
  if ('kind' in opened) return;
  opened.call.release();
  opened.call.finish();
}
