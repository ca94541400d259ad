import type { ResponseWriter } from '../request.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

/** Writes one streamed answer and keeps it open while nothing comes. */
export interface StreamOutput {
  /** Resolves at once unless the caller reads too slowly. */
  write(frames: string): Promise<void> | undefined;
  /** Writes one event in pieces, at the pace of the caller: nothing else is written meanwhile. */
  writeEvent(send: () => Promise<void>): Promise<void>;
  end(frames: string): void;
  /**
   * Whether it is the caller's doing when the time of the request is over, or an upstream that stood still meanwhile
   * hung up: this very caller was being waited for, or has been for long.
   */
  wasCallerSlow(): boolean;
  /** Stops the keep-alives. */
  stop(): void;
}

/** @spec stream-4 */
const KEEP_ALIVE_MS = 10_000;
/** A caller that the response has waited for so long, all waits together, reads slowly. */
const SLOW_READER_MS = 5_000;

/** What a stream is written to. */
export type StreamCaller = Pick<ResponseWriter, 'startStream' | 'write' | 'drained' | 'end'>;

export interface StreamOutputOptions {
  readonly generationId: string;
  /** What goes out while nothing comes. @param idleMs since the last output, a multiple of 10 s */
  readonly keepAlive: (idleMs: number) => string;
  /** Aborted when the request is over: then the response no longer waits for the caller. */
  readonly cancellation: Pick<Cancellation, 'aborted' | 'signal'>;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
}

/**
 * The first keep-alive goes out 10 s after admission, which commits status 200: until then a failure of all attempts is
 * a real status. Later ones whenever 10 s passed without output.
 */
export function openStreamOutput(caller: StreamCaller, options: StreamOutputOptions): StreamOutput {
  const { generationId, keepAlive, cancellation, monotonicMs } = options;
  let waitedMs = 0;
  let wasCutShort = false;

  async function waitForCaller(): Promise<void> {
    if (cancellation.aborted) return;
    const sinceMs = monotonicMs();
    await caller.drained(cancellation.signal);
    waitedMs += monotonicMs() - sinceMs;
    wasCutShort ||= cancellation.aborted;
  }

  let idleMs = 0;
  let isWithinEvent = false;
  const timer = setTimeout(function tick() {
    idleMs += KEEP_ALIVE_MS;
    if (!isWithinEvent) {
      caller.startStream(generationId);
      caller.write(keepAlive(idleMs));
    }
    timer.refresh();
  }, KEEP_ALIVE_MS);
  return {
    write(frames) {
      idleMs = 0;
      timer.refresh();
      caller.startStream(generationId);
      return caller.write(frames) ? undefined : waitForCaller();
    },
    async writeEvent(send) {
      isWithinEvent = true;
      caller.startStream(generationId);
      await send();
      isWithinEvent = false;
      idleMs = 0;
      timer.refresh();
    },
    end(frames) {
      clearTimeout(timer);
      caller.startStream(generationId);
      caller.end(frames);
    },
    wasCallerSlow: () => wasCutShort || waitedMs >= SLOW_READER_MS,
    stop() {
      clearTimeout(timer);
    },
  };
}
