import { timeoutFailure, transportFailure } from '../canonical/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { TransportError, type Call, type InboundAnswer } from '../lib/http-client.ts';
import { createWatch, type Watch } from './watch.ts';

/** After the last event an upstream may take this long to close; then its connection is dropped. */
const LINGER_MS = 5_000;

/** More of an answer came than anybody holds in memory. */
export class AnswerTooLarge extends Error {}

/** One call under way, its running time limit, and the signal that ends it. A class because it lives as long as its answer. */
export class WatchedCall {
  readonly answer: Promise<InboundAnswer>;
  readonly watch: Watch;
  readonly #call: Call;
  readonly #signal: AbortSignal;
  readonly #cancel: () => void;

  /** @param signal aborted when the caller is gone or the request's time is up */
  constructor(call: Call, signal: AbortSignal) {
    this.answer = call.answer;
    this.#call = call;
    this.#signal = signal;
    this.#cancel = () => call.cancel();
    this.watch = createWatch(this.#cancel);
    signal.addEventListener('abort', this.#cancel, { once: true });
  }

  /** Nothing that is still to come is waited for. */
  finish(): void {
    this.watch.disarm();
    this.#signal.removeEventListener('abort', this.#cancel);
  }

  /** Drops the connection. */
  cancel(): void {
    this.#call.cancel();
  }

  /** After the last event: whatever the upstream still sends is nobody's. */
  release(): void {
    this.#call.release(LINGER_MS);
  }

  /** What an error of this call means. @throws what is none of its errors: a bug */
  explain(error: unknown): UpstreamFailure {
    if (this.watch.expired !== undefined) return timeoutFailure(this.watch.expired);
    if (this.#signal.aborted) return abortFailure(this.#signal);
    if (error instanceof AnswerTooLarge || error instanceof RangeError) return transportFailure('too-large');
    if (!(error instanceof TransportError)) throw error;
    if (error.kind === 'connect-timeout') return timeoutFailure('connect');
    if (error.kind === 'protocol') return transportFailure('garbage');
    return transportFailure(error.kind);
  }
}

/** The total limit aborts with its clock's name as the reason; a caller who hangs up with none. */
export function abortFailure(signal: AbortSignal): UpstreamFailure {
  return signal.reason === 'total' ? timeoutFailure('total') : transportFailure('aborted');
}
