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
  return new RunningWatch(onExpired);
}

/**
 * A class, because there is one for each attempt: a getter in an object literal makes V8 draw up a new hidden class for
 * each object, and those keep all that the object reaches until a major collection.
 */
class RunningWatch implements Watch {
  expired: ClockName | undefined;
  readonly #onExpired: (clock: ClockName) => void;
  #timer: NodeJS.Timeout | undefined;
  #idle = false;
  #held = false;
  #over = false;

  constructor(onExpired: (clock: ClockName) => void) {
    this.#onExpired = onExpired;
  }

  arm(clock: ClockName, ms: number): void {
    if (this.#over) return;
    clearTimeout(this.#timer);
    this.#idle = clock === 'idle';
    this.#timer = setTimeout(() => this.#expire(clock), ms);
  }

  restart(): void {
    if (this.#idle) this.#timer?.refresh();
  }

  hold(held: boolean): void {
    this.#held = held;
  }

  disarm(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #expire(clock: ClockName): void {
    if (this.#held || this.expired !== undefined) return;
    this.expired = clock;
    this.#onExpired(clock);
  }
}
