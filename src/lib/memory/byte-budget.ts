/** Memory that several users share. */
export interface ByteBudget {
  /**
   * Takes so many bytes, at most the whole budget, and waits in a queue while they are not free.
   * @returns what was taken; `undefined` when the wait or the queue was too long, or `signal` aborted
   */
  take(bytes: number, signal: AbortSignal): Promise<BytesTaken | undefined>;
  /** The whole budget. */
  readonly bytesMax: number;
  /** Bytes in use. */
  readonly taken: number;
}

export interface BytesTaken {
  /** Returns all but so many bytes to the budget. */
  shrink(bytes: number): void;
}

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  readonly waitMs: number;
  /** Waiting requests; a further one gets nothing, at once. */
  readonly waitingMax: number;
}

interface Waiting {
  readonly bytes: number;
  readonly start: (taken: BytesTaken | undefined) => void;
}

/** First in, first out, so that small requests cannot pass a large one for ever. */
export function createByteBudget({ bytesMax, waitMs, waitingMax }: ByteBudgetOptions): ByteBudget {
  const waiting = new Set<Waiting>();
  let taken = 0;

  function hold(wanted: number): BytesTaken {
    let held = wanted;
    taken += held;
    return {
      shrink(bytes) {
        const left = Math.min(bytes, held);
        taken -= held - left;
        held = left;
        serve();
      },
    };
  }

  function serve(): void {
    for (const one of waiting) {
      if (taken + one.bytes > bytesMax) return;
      one.start(hold(one.bytes));
    }
  }

  return {
    take(wanted, signal) {
      const bytes = Math.min(wanted, bytesMax);
      if (signal.aborted) return Promise.resolve(undefined);
      if (waiting.size === 0 && taken + bytes <= bytesMax) return Promise.resolve(hold(bytes));
      if (waiting.size >= waitingMax) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const start = (given: BytesTaken | undefined): void => {
          waiting.delete(one);
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolve(given);
        };
        const giveUp = (): void => {
          start(undefined);
          // A smaller request behind this one may fit.
          serve();
        };
        const one: Waiting = { bytes, start };
        const timer = setTimeout(giveUp, waitMs);
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(one);
      });
    },
    bytesMax,
    get taken() {
      return taken;
    },
  };
}
