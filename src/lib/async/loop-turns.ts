import type { Clock } from '../clock.ts';

/** Smaller bodies are processed in one step: that takes a few milliseconds, whatever they hold. */
export const LARGE_BYTES = 131_072;

/** A step that held the event loop for longer is followed by a pause of the same length. */
const REST_AFTER_MS = 5;
const REST_MS_MAX = 100;

/**
 * Keeps large requests from holding the event loop. Their work is cut into steps; in each turn of the event loop one step
 * of all requests begins, first in, first out. A long step is followed by a pause of the same length, so that small
 * requests have at least half of the event loop.
 */
export interface LoopTurns {
  /** Resolves when the next step may begin. */
  next(): Promise<void>;
}

export function createLoopTurns({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): LoopTurns {
  const waiting: (() => void)[] = [];
  let isBusy = false;

  function begin(): void {
    const step = waiting.shift();
    isBusy = step !== undefined;
    if (step === undefined) return;
    const startedMs = clock.monotonicMs();
    // The step runs when this function has returned; an immediate that is set here runs a turn later.
    step();
    setImmediate(() => {
      const heldMs = clock.monotonicMs() - startedMs;
      if (heldMs > REST_AFTER_MS) setTimeout(begin, Math.min(heldMs, REST_MS_MAX));
      else begin();
    });
  }

  return {
    next() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      if (!isBusy) setImmediate(begin);
      isBusy = true;
      return promise;
    },
  };
}
