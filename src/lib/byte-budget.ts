/** Memory that many share. */
export interface ByteBudget {
  /**
   * Takes so many bytes, at most the whole budget, and waits in line while they are not free.
   * @returns what was taken; `undefined` when the wait was too long, the line too, or `signal` aborted
   */
  take(bytes: number, signal: AbortSignal): Promise<BytesTaken | undefined>;
  /** Bytes that are taken now. */
  readonly taken: number;
}

export interface BytesTaken {
  /** Gives back all but so many. */
  shrink(bytes: number): void;
}

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  readonly waitMs: number;
  /** How many may wait; who comes after them is turned away at once. */
  readonly waitingMax: number;
}

interface Waiting {
  readonly bytes: number;
  readonly start: (taken: BytesTaken | undefined) => void;
}

/** In the order in which they came, so that a large wish is not passed by small ones for ever. */
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
          // Whoever stood behind a large wish may fit.
          serve();
        };
        const one: Waiting = { bytes, start };
        const timer = setTimeout(giveUp, waitMs);
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(one);
      });
    },
    get taken() {
      return taken;
    },
  };
}
