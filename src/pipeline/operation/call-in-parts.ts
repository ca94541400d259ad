import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyFormatId } from '../../canonical/extra.ts';
import type { UpstreamErrorBody, UpstreamFailure } from '../../canonical/failure/failure.ts';
import { Cancellation } from '../../lib/async/cancellation.ts';
import type { KindOffer, Provider } from '../../providers/contract.ts';
import type { Operation } from '../../canonical/operation.ts';
import { reportedError } from '../attempt/reported-error.ts';
import type { AnswerMemory } from './answer-memory.ts';
import type { CandidateCall } from './call-candidates.ts';
import { LARGE_ANSWER_BYTES, NO_ANSWER_ROOM, NoResponseRoom } from '../response/whole-response-budget.ts';
import { callOnce, type CallBody, type OneCallDeps } from './one-call.ts';
import { wholeLimitMs } from './kind-limits.ts';
import type { RequestEnd } from '../request.ts';

const PARTS_AT_ONCE_MAX = 4;

/** One of the calls that an operation is made of. */
export interface PartOfCall {
  /** Below the provider's base URL. */
  readonly path: string;
  readonly body: CallBody;
  /** How long its answer is where it does not say so: one of many that took all memory would wait for the others. */
  readonly expectedBytes?: number;
  /** How often the bytes of its answer exist at most. */
  readonly copies?: number;
}

interface Parts {
  readonly offer: KindOffer;
  readonly format: { readonly id: AnyFormatId; readonly decodeError: (text: string) => UpstreamErrorBody };
  readonly calls: readonly PartOfCall[];
}

/**
 * Makes the calls, some at a time, and reads the answers, in order. The failure of one part ends the others. What was read may
 * be parts of the answers, so these keep their memory: `keptBytes` of what was read, where it says so, else all.
 */
export async function callInParts<Value extends object>(
  deps: OneCallDeps,
  { provider, endpoint, request, attempt, deadline, cancellation, memory }: CandidateCall<Operation>,
  { offer, format, calls }: Parts,
  read: (answer: Buffer, at: number) => Value | UpstreamFailure | Promise<Value | UpstreamFailure>,
): Promise<readonly Value[] | UpstreamFailure> {
  const together = new Cancellation<RequestEnd>();
  const onAbort = (): void => together.abort(cancellation.reason ?? 'over');
  cancellation.onAbort(onAbort);
  deadline.start();
  const context = { format: format.id, settings: provider.settings, model: endpoint.upstreamModel, stream: false };
  const limitMs = wholeLimitMs(provider, request);
  const decodeError = (text: string): UpstreamErrorBody => format.decodeError(text);
  const { basePath } = offer;
  try {
    const space = await spaceFor(memory, calls, together.signal);
    return await inTurns(calls, PARTS_AT_ONCE_MAX, async ({ path, body, expectedBytes, copies }, at) => {
      const call = {
        provider,
        context,
        path: offer.path?.(endpoint.upstreamModel) ?? path,
        body,
        decodeError,
        ...(basePath !== undefined && { basePath }),
      };
      // A second call takes what the first one has taken.
      const room = space.open(copies, expectedBytes);
      const callPart = (): ReturnType<typeof callOnce> =>
        callOnce(deps, call, { room, attempt, deadline, cancellation: together }, limitMs);
      const first = await callPart();
      // One part of many is not to waste what was paid for the others.
      const isRepeated = 'kind' in first && calls.length > 1 && (await waitToRepeat(first, together));
      const answer = isRepeated ? await callPart() : first;
      const value = 'kind' in answer ? answer : await readAnswer(answer, provider, (bytes) => read(bytes, at));
      if ('kind' in value) together.abort('over');
      else if ('keptBytes' in value && typeof value.keptBytes === 'number') room.shrink(value.keptBytes);
      return value;
    });
  } catch (error) {
    if (error instanceof NoResponseRoom) return NO_ANSWER_ROOM;
    throw error;
  } finally {
    cancellation.offAbort(onAbort);
  }
}

/** Parts that are large together have their memory from the beginning. @throws NoResponseRoom */
async function spaceFor(
  memory: AnswerMemory,
  calls: readonly PartOfCall[],
  signal: AbortSignal,
): Promise<AnswerMemory> {
  const sizes = calls.map(({ expectedBytes = 0 }) => expectedBytes);
  const largest = Math.max(...sizes);
  if (calls.length === 1 || largest <= LARGE_ANSWER_BYTES) return memory;
  const copies = Math.max(...calls.map(({ copies: some = 1 }) => some));
  const underWay = largest * (copies - 1) * Math.min(PARTS_AT_ONCE_MAX, calls.length);
  return memory.reserve(
    sizes.reduce((sum, size) => sum + size, underWay),
    signal,
  );
}

const REPEATED_KINDS: ReadonlySet<UpstreamFailure['kind']> = new Set(['connect', 'reset']);
const RETRY_AFTER_MS_MAX = 5_000;

/** Waits as long as the upstream says. @returns whether the call is worth a second one */
async function waitToRepeat(
  { kind, upstreamStatus, retryAfterMs = Infinity }: UpstreamFailure,
  cancellation: Cancellation<RequestEnd>,
): Promise<boolean> {
  if (cancellation.aborted) return false;
  if (REPEATED_KINDS.has(kind)) return true;
  if (upstreamStatus !== 429 || retryAfterMs > RETRY_AFTER_MS_MAX) return false;
  await sleep(retryAfterMs, undefined, { signal: cancellation.signal }).catch(() => undefined);
  return !cancellation.aborted;
}

/** What is no answer of the format may be an error. */
async function readAnswer<Value extends object>(
  answer: Buffer,
  provider: Provider,
  read: (answer: Buffer) => Value | UpstreamFailure | Promise<Value | UpstreamFailure>,
): Promise<Value | UpstreamFailure> {
  const value = await read(answer);
  return 'kind' in value ? (reportedError(answer, provider) ?? value) : value;
}

/** So many at a time, in order; the first failure that is none of a cancelled part. */
async function inTurns<Item, Value extends object>(
  items: readonly Item[],
  atOnce: number,
  run: (item: Item, at: number) => Promise<Value | UpstreamFailure>,
): Promise<readonly Value[] | UpstreamFailure> {
  const values: Value[] = [];
  let failure: UpstreamFailure | undefined;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length && failure === undefined; at = next++) {
      const item = items[at];
      if (item === undefined) return;
      const value = await run(item, at);
      if ('kind' in value) failure ??= value;
      else values[at] = value;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return failure ?? values;
}
