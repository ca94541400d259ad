import type { Caller } from './caller.ts';

/** Writes one streamed answer and keeps it open while nothing comes. */
export interface StreamOutput {
  /** Resolves at once unless the caller reads too slowly. */
  write(frames: string): Promise<void> | undefined;
  end(frames: string): void;
  /** Stops the keep-alives. */
  stop(): void;
}

/** @source decisions.md 20 */
const KEEP_ALIVE_MS = 10_000;

/**
 * The first keep-alive goes out 10 s after admission, which commits status 200: until then a failure of all attempts is
 * a real status. Later ones whenever 10 s passed without output.
 */
export function openStreamOutput(caller: Caller, generationId: string, keepAlive: string): StreamOutput {
  const timer = setTimeout(function tick() {
    caller.startStream(generationId);
    caller.write(keepAlive);
    timer.refresh();
  }, KEEP_ALIVE_MS);
  return {
    write(frames) {
      timer.refresh();
      caller.startStream(generationId);
      return caller.write(frames) ? undefined : caller.drained();
    },
    end(frames) {
      clearTimeout(timer);
      caller.startStream(generationId);
      caller.end(frames);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
