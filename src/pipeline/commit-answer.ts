import { classifyErrorEvent, transportFailure } from '../canonical/classify-failure.ts';
import type { EventBatch, EventSource, GenerationEvent } from '../canonical/events.ts';
import { failureOfMeaning, MEANINGS } from '../canonical/failure-meaning.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { InboundAnswer } from '../lib/http-client.ts';
import type { StreamDecoder } from '../wire/format.ts';
import type { AnswerCleaner } from './clean-answer.ts';
import { isContent } from './is-content.ts';
import type { WatchedCall } from './watched-call.ts';

/** What one attempt came to. Only a committed one has anything for the caller; after that nobody else may try. */
export type AttemptOutcome =
  | { readonly committed: true; readonly source: EventSource }
  | {
      readonly committed: false;
      readonly failure: UpstreamFailure;
      /** A whole answer that broke off. Nobody has seen it: it is for the caller when no other may try. generation.md C.4 */
      readonly partial?: EventSource;
    };

/** A whole answer: it has ended, one way or the other. */
export function commitWhole(events: EventBatch): AttemptOutcome {
  const source = new GivenEvents(events);
  const failure = brokenOff(events);
  if (failure !== undefined) return { committed: false, failure, ...(events.some(isContent) && { partial: source }) };
  const refusal = refusedOutright(events);
  if (refusal !== undefined) return { committed: false, failure: refusal, partial: source };
  return { committed: true, source };
}

class GivenEvents implements EventSource {
  #events: EventBatch | undefined;

  constructor(events: EventBatch) {
    this.#events = events;
  }

  read(): Promise<EventBatch | undefined> {
    const events = this.#events;
    this.#events = undefined;
    return Promise.resolve(events);
  }

  cancel(): void {
    this.#events = undefined;
  }
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
  readonly call: WatchedCall;
  readonly decoder: StreamDecoder;
  readonly cleaner: AnswerCleaner;
  readonly idleMs: number;
}

/** Reads until the first content: lifecycle frames alone commit to nothing (pains.md 2 and 3). */
export async function commitStream(stream: OpenStream): Promise<AttemptOutcome> {
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
          const chunk = await answer.read();
          watch.hold(true);
          const batch = chunk === undefined ? decoder.end() : decoder.push(chunk);
          if (chunk === undefined && batch.length === 0) close();
          if (batch.length > 0) return closeAfterLast(batch);
        } catch (error) {
          call.cancel();
          return closeAfterLast([{ type: 'failed', failure: call.explain(error) }]);
        }
      }
      return undefined;
    },
    cancel() {
      over = true;
      call.finish();
      call.cancel();
    },
  };
}

/** Whether an answer is over with it. */
export function isLast(event: GenerationEvent | undefined): boolean {
  return event?.type === 'end' || event?.type === 'failed';
}
