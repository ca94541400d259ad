/** Periodic background work, one piece at a time. */
export interface Housekeeping {
  /** The first round begins after `everyMs`. */
  start(): void;
  /** No piece begins after this. Settles when the piece under way has ended. */
  stop(): Promise<void>;
}

export interface HousekeepingDeps {
  /** One piece of work. `true`: there is more to do. */
  readonly work: () => Promise<boolean>;
  /** The time between two rounds. */
  readonly everyMs: number;
  /** The time between two pieces of a round, in which requests are served. */
  readonly pauseMs: number;
  readonly onFailed: (error: unknown) => void;
}

/** A piece that fails is retried in the next round. The timer does not keep the process alive. */
export function createHousekeeping({ work, everyMs, pauseMs, onFailed }: HousekeepingDeps): Housekeeping {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  async function doPiece(): Promise<void> {
    let hasMore = false;
    try {
      hasMore = await work();
    } catch (error) {
      onFailed(error);
    }
    plan(hasMore ? pauseMs : everyMs);
  }

  function plan(delayMs: number): void {
    if (stopped) return;
    timer = setTimeout(() => {
      running = doPiece();
    }, delayMs).unref();
  }

  return {
    start: () => plan(everyMs),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
