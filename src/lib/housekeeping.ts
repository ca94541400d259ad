/** Work that is done now and then, a piece at a time. */
export interface Housekeeping {
  /** The first round begins after the time between two. */
  start(): void;
  /** No piece begins after this; settles when the one under way has ended. */
  stop(): Promise<void>;
}

export interface HousekeepingParts {
  /** One piece of work. `true`: there is more to do. */
  readonly work: () => Promise<boolean>;
  /** Between two rounds. */
  readonly everyMs: number;
  /** Between two pieces of a round, so that others come to their turn. */
  readonly pauseMs: number;
  readonly onFailed: (error: unknown) => void;
}

/** Whatever fails is tried again in the next round. Keeps no process alive. */
export function createHousekeeping({ work, everyMs, pauseMs, onFailed }: HousekeepingParts): Housekeeping {
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
