import { classifyErrorEvent, transportFailure } from '../../canonical/failure/classify-failure.ts';
import type { EventBatch, EventSource, GenerationEvent } from '../../canonical/events.ts';
import { failureOfMeaning, MEANINGS } from '../../canonical/failure/failure-meaning.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { InboundAnswer } from '../../lib/net/http-client.ts';
import type { StreamDecoder } from '../../wire/format.ts';
import type { ResponseCleaner } from './response/clean-response.ts';
import { isContent } from './response/is-content.ts';
import type { WatchedCall } from './watched-call.ts';

/** What one attempt came to. Only a committed one has content for the caller; after that no other candidate is tried. */
export type AttemptOutcome =
  | { readonly committed: true; readonly source: EventSource }
  | {
      readonly committed: false;
      readonly failure: UpstreamFailure;
      /** A whole response that broke off, which the caller has not seen: it is sent when no other candidate is left. @spec chat-response-13 */
      readonly partial?: EventSource;
    };

/** A whole answer: it has ended, one way or the other. */
export function commitWhole(events: EventBatch): AttemptOutcome {
  const source = new GivenEvents(events);
  const hasContent = events.some(isContent);
  const failure = brokenOff(events, hasContent);
  if (failure !== undefined) return { committed: false, failure, ...(hasContent && { partial: source }) };
  const refusal = hasContent ? undefined : refusedOutright(events);
  if (refusal !== undefined) return { committed: false, failure: refusal, partial: source };
  return { committed: true, source };
}

class GivenEvents implements EventSource {
  #events: EventBatch | undefined;

  constructor(events: EventBatch) {
    this.#events = events;
  }

  read(): Promise<EventBatch | undefined> {
    return Promise.resolve(this.takeAll());
  }

  takeAll(): EventBatch | undefined {
    const events = this.#events;
    this.#events = undefined;
    return events;
  }

  cancel(): void {
    this.#events = undefined;
  }
}

const SERVER_ERROR = 500;

/**
 * An answer may fail, or end with an error for its reason, which says no more than that. One that says nothing and gives no
 * reason for its end is none, whatever ended it (@spec stream-11).
 */
function brokenOff(events: EventBatch, hasContent: boolean): UpstreamFailure | undefined {
  const last = events.findLast(isLast);
  if (last?.type === 'failed') return last.failure;
  if (last?.finish === 'error') return classifyErrorEvent(SERVER_ERROR, {});
  return last?.finish === 'unknown' && !hasContent ? transportFailure('early-end') : undefined;
}

/**
 * An answer that says nothing but that there will be none. Another model may answer where the caller named one; else this
 * is the answer. @spec fallback-5
 */
function refusedOutright(events: EventBatch): UpstreamFailure | undefined {
  const end = events.findLast((event) => event.type === 'end');
  if (end?.finish !== 'content_filter') return undefined;
  return { kind: 'error-event', ...failureOfMeaning(MEANINGS.refused) };
}

interface OpenStream {
  readonly answer: InboundAnswer;
  readonly call: WatchedCall;
  readonly decoder: StreamDecoder;
  readonly cleaner: ResponseCleaner;
  readonly idleMs: number;
}

/** Reads until the first content: lifecycle frames alone commit to nothing (@spec fallback-1). */
export async function commitStream(stream: OpenStream): Promise<AttemptOutcome> {
  const source = streamSource(stream);
  const held: GenerationEvent[] = [];
  let hasContent = false;
  for (;;) {
    const batch = await source.read();
    if (batch === undefined) return { committed: false, failure: transportFailure('early-end') };
    held.push(...batch);
    hasContent = batch.some(isContent);
    if (hasContent) break;
    const failure = brokenOff(held, false);
    if (failure !== undefined) {
      source.cancel();
      return { committed: false, failure };
    }
    if (held.some((event) => event.type === 'end')) break;
  }
  const refusal = hasContent ? undefined : refusedOutright(held);
  if (refusal !== undefined) return { committed: false, failure: refusal, partial: startingWith(held, source) };
  const { watch } = stream.call;
  watch.arm('idle', stream.idleMs);
  watch.hold(true);
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
    isComplete: () => source.isComplete?.() === true,
  };
}

function streamSource({ answer, call, decoder, cleaner }: OpenStream): EventSource {
  const { watch } = call;
  let over = false;

  function close(): void {
    over = true;
    call.finish();
    call.release();
  }

  function closeAfterLast(batch: EventBatch): EventBatch {
    const last = batch.at(-1);
    if (last?.type === 'failed') call.cancel();
    if (isLast(last)) close();
    return cleaner.clean(batch);
  }

  return {
    async read() {
      while (!over) {
        try {
          watch.hold(false);
          watch.restart();
          const chunk = await call.readOn(answer, decoder);
          watch.hold(true);
          const batch = chunk === undefined ? decoder.end() : decoder.push(chunk);
          if (chunk === undefined && batch.length === 0) close();
          if (batch.length > 0) return closeAfterLast(batch);
        } catch (error) {
          call.cancel();
          return closeAfterLast(endOf(decoder, call.explain(error)));
        }
      }
      return undefined;
    },
    cancel() {
      over = true;
      call.finish();
      call.cancel();
    },
    isComplete: () => decoder.isComplete?.() === true,
  };
}

/** Silence after the reason to stop is no failure: what is missing are the counts and the farewell. */
function endOf(decoder: StreamDecoder, failure: UpstreamFailure): EventBatch {
  const ending = failure.clock === 'idle' ? decoder.end() : [];
  return ending.at(-1)?.type === 'end' ? ending : [{ type: 'failed', failure }];
}

/** Whether an answer is over with it. */
export function isLast(
  event: GenerationEvent | undefined,
): event is Extract<GenerationEvent, { readonly type: 'end' | 'failed' }> {
  return event?.type === 'end' || event?.type === 'failed';
}
