import { classifyStatus } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamErrorBody, UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';
import type { LoopTurns } from '../../lib/async/loop-turns.ts';
import type { InboundAnswer } from '../../lib/net/http-client.ts';
import { parseRetryAfterMs } from '../../lib/net/retry-after.ts';
import type { Provider } from '../../providers/contract.ts';
import { LARGE_ANSWER_BYTES, type ResponseRoom } from '../response/whole-response-budget.ts';
import type { AttemptDeadline } from './attempt-deadline.ts';
import { judgeFailure } from './judge-failure.ts';
import type { Watch } from './watchdog.ts';
import { ResponseTooLarge, type WatchedCall } from './watched-call.ts';

const ERROR_BODY_BYTES_MAX = 64 * 1_024;
const WHOLE_BODY_BYTES_MAX = 64 * 1_024 * 1_024;

/** Decodes the error of an upstream. @param headers of the response, names in lower case */
export type DecodeError = (text: string, headers: Readonly<Record<string, string>>) => UpstreamErrorBody;

/** What a response means that is no success. */
export async function readFailure(
  answer: InboundAnswer,
  decodeError: DecodeError,
  provider: Provider,
  nowMs: number,
): Promise<UpstreamFailure> {
  const text = await readBytes(answer, ERROR_BODY_BYTES_MAX).then(String, () => '');
  const error = decodeError(text, answer.headers);
  const retryAfterMs = parseRetryAfterMs(answer.headers, nowMs);
  const failure = { ...classifyStatus(answer.status, error), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return judgeFailure(failure, provider);
}

/** Where a large answer finds memory, and the time limits that do not count the wait for it. */
export interface Space {
  readonly room: () => ResponseRoom;
  readonly turns: LoopTurns;
  readonly cancellation: Cancellation;
  readonly watch: Watch;
  readonly wholeMs: number;
  readonly deadline: AttemptDeadline;
}

/** While the gateway has no memory for an answer its upstream is not slow: most of the answer may be here already. */
export async function takeRoom(
  { room, cancellation, watch, wholeMs, deadline }: Space,
  answer: InboundAnswer,
  bytes: number,
): Promise<void> {
  watch.hold(true);
  answer.isKept = true;
  await deadline.leaveOut(room().take(bytes, cancellation.signal));
  answer.isKept = false;
  watch.hold(false);
  watch.arm('whole', wholeMs);
}

/** An answer that comes as a whole: at once where it is here. */
export function readWhole(answer: InboundAnswer, call: WatchedCall, space: Space): Buffer | Promise<Buffer> {
  const small = answer.takeRest?.();
  if (small === undefined) return waitForWhole(answer, call, space);
  return Buffer.from(small.buffer, small.byteOffset, small.length);
}

async function waitForWhole(answer: InboundAnswer, call: WatchedCall, space: Space): Promise<Buffer> {
  const whole = await readBytes(answer, largestResponse(space), space);
  if (whole.length < LARGE_ANSWER_BYTES) return whole;
  // All of it is here: what it waits for now is no fault of its upstream.
  call.finish();
  space.room().fit(whole.length);
  await space.turns.next();
  return whole;
}

async function readBytes(answer: InboundAnswer, bytesMax: number, space?: Space): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let [bytes, fitting] = [0, LARGE_ANSWER_BYTES];
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new ResponseTooLarge();
    if (bytes > fitting && space !== undefined) {
      fitting = sizeOf(answer, bytes, bytesMax, space.room().expectedBytes);
      await takeRoom(space, answer, fitting);
    }
    chunks.push(chunk);
  }
  const only = chunks.length === 1 ? chunks[0] : undefined;
  return only === undefined ? Buffer.concat(chunks) : Buffer.from(only.buffer, only.byteOffset, only.length);
}

export function crossesLarge(before: number, bytes: number): boolean {
  return bytes > LARGE_ANSWER_BYTES && before <= LARGE_ANSWER_BYTES;
}

export function largestResponse({ room }: Space): number {
  return Math.min(WHOLE_BODY_BYTES_MAX, room().bytesMax);
}

/** As large as it says that it is, or else as is expected, or else as it may be. */
function sizeOf({ headers }: InboundAnswer, bytes: number, bytesMax: number, expectedBytes: number): number {
  const { 'content-length': length, 'content-encoding': encoding } = headers;
  const size = length === undefined || encoding !== undefined ? expectedBytes : Number(length);
  return size < bytes ? bytesMax : Math.min(size, bytesMax);
}
