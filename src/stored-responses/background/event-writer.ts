import type { ResponseWriter } from '../../pipeline/request.ts';
import { parseEvents, type ResponseFold, type SentEvent } from '../../wire/responses/response/fold-events.ts';

/** Beyond so many characters that are not stored yet the upstream waits. */
const UNSTORED_CHARS_MAX = 4_194_304;

/** Takes the stream of a response that runs in the background, and holds it until it is stored. */
export class EventWriter implements ResponseWriter {
  /** A response has begun once it was accepted: whatever happens from then on is in its stream. */
  readonly started = true;
  readonly fold: ResponseFold;
  /** The last event, which is stored with the end of the response. */
  terminal: SentEvent | undefined;
  #unstored: SentEvent[] = [];
  #chars = 0;
  readonly #onFull: () => void;
  #waiting: (() => void)[] = [];
  #stops: (() => void)[] = [];
  #isStopped = false;

  /** @param fold of the events before @param onFull is to store what there is */
  constructor(fold: ResponseFold, onFull: () => void) {
    this.fold = fold;
    this.#onFull = onFull;
  }

  get unstored(): readonly SentEvent[] {
    return this.#unstored;
  }

  /** Ends the upstream's work, as a caller does that hangs up. */
  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  onGone(listener: () => void): void {
    if (this.#isStopped) listener();
    else this.#stops.push(listener);
  }

  write(frames: string): boolean {
    this.#take(parseEvents(frames));
    if (this.#chars < UNSTORED_CHARS_MAX) return true;
    this.#onFull();
    return false;
  }

  drained(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#chars < UNSTORED_CHARS_MAX) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  end(frames: string): void {
    const events = parseEvents(frames);
    this.terminal = events.at(-1);
    this.#take(events.slice(0, -1));
  }

  /** The first events that are not stored yet are by now. */
  stored(count: number): void {
    const events = this.#unstored.splice(0, count);
    for (const { frame } of events) this.#chars -= frame.length;
    if (this.#chars >= UNSTORED_CHARS_MAX) return;
    for (const resume of this.#waiting) resume();
    this.#waiting = [];
  }

  #take(events: readonly SentEvent[]): void {
    this.fold.push(events);
    this.#unstored.push(...events);
    for (const { frame } of events) this.#chars += frame.length;
  }

  // A stream has no headers here, and no refusal: it has started.
  announce(): void {}
  startStream(): void {}
  answer(): void {}
  refuse(): void {}
}
