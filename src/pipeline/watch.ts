import type { UpstreamFailure } from '../canonical/failure.ts';

export type ClockName = NonNullable<UpstreamFailure['clock']>;

/** One running time limit of an attempt. At most one is armed at a time. */
export interface Watch {
  /** Starts a limit; the one before it stops. */
  arm(clock: ClockName, ms: number): void;
  /** Starts the idle limit again, cheaply: once per network read. The other limits run from their start. */
  restart(): void;
  /** While held, the limit cannot run out: the caller reads slowly, which is not the provider's fault. */
  hold(held: boolean): void;
  /** Stops the limit for good. */
  disarm(): void;
  /** The limit that ran out, if one did. */
  readonly expired: ClockName | undefined;
}

export function createWatch(onExpired: (clock: ClockName) => void): Watch {
  let timer: NodeJS.Timeout | undefined;
  let idle = false;
  let held = false;
  let over = false;
  let expired: ClockName | undefined;
  return {
    arm(clock, ms) {
      if (over) return;
      clearTimeout(timer);
      idle = clock === 'idle';
      timer = setTimeout(() => {
        if (held || expired !== undefined) return;
        expired = clock;
        onExpired(clock);
      }, ms);
    },
    restart() {
      if (idle) timer?.refresh();
    },
    hold(value) {
      held = value;
    },
    disarm() {
      over = true;
      clearTimeout(timer);
    },
    get expired() {
      return expired;
    },
  };
}
