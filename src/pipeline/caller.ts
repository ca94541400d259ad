import type { GatewayError } from '../canonical/gateway-error.ts';
import type { ErrorContext } from '../wire/format.ts';

/** Whoever waits for the answer, as the pipeline sees it: an HTTP response, or a test. */
export interface Caller {
  /** Calls back, once, when the caller hangs up before the answer has ended; at once if that has happened. */
  onGone(listener: () => void): void;
  /** True once status and headers have left: from then on errors travel inside the stream. */
  readonly started: boolean;
  /** Headers that leave with an answer, whenever that is; not with an error. */
  announce(headers: Readonly<Record<string, string>>): void;
  /** Sends status 200 and the headers of an event stream. Only the first call counts. */
  startStream(generationId: string): void;
  /** Sends frames. False when the caller reads too slowly: wait for `drained` before the next. */
  write(frames: string): boolean;
  /** Settles when the caller has caught up or is gone, and when the signal aborts: nobody waits for ever for a reader. */
  drained(signal: AbortSignal): Promise<void>;
  /** Sends the last frames and ends the answer. */
  end(frames: string): void;
  /** Sends a whole answer, status 200, JSON. */
  answer(generationId: string, json: string): void;
  /** Sends an error as the whole answer; only before `started`. */
  refuse(error: GatewayError, context: ErrorContext): void;
}
