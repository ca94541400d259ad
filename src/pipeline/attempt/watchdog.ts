import type { UpstreamFailure } from '../../canonical/failure/failure.ts';

export type ClockName = NonNullable<UpstreamFailure['clock']>;

/** A shorter limit, which holds only where another candidate may do better. */
export interface Cut {
  /** From now. */
  readonly afterMs: number;
  /** As it counts for the attempt from its start. */
  readonly limitMs: number;
  /** Is called when the limit runs out. If there is none, the longer limit holds. */
  readonly hasAlternative: () => boolean;
}

/**
 * One running time limit of an attempt. At most one is armed at a time. A class, because there is one for each attempt: a
 * getter in an object literal makes V8 draw up a new hidden class for each object, and those keep all that the object reaches
 * until a major collection.
 */
export class Watch {
  /** The limit that ran out, if one did. */
  expired: ClockName | undefined;
  /** With `expired`, where the shorter limit ran out: that limit. */
  cutAfterMs: number | undefined;
  readonly #onExpired: (clock: ClockName) => void;
  #timer: NodeJS.Timeout | undefined;
  #idle = false;
  #held = false;
  #over = false;

  constructor(onExpired: (clock: ClockName) => void) {
    this.#onExpired = onExpired;
  }

  /** Starts a limit; the one before it stops. */
  arm(clock: ClockName, ms: number, cut?: Cut): void {
    if (this.#over) return;
    clearTimeout(this.#timer);
    this.#idle = clock === 'idle';
    this.#timer =
      cut !== undefined && cut.afterMs < ms
        ? setTimeout(() => this.#cut(clock, ms, cut), cut.afterMs)
        : setTimeout(() => this.#expire(clock), ms);
  }

  /** Starts the idle limit again, cheaply: once per network read. The other limits run from their start. */
  restart(): void {
    if (this.#idle) this.#timer?.refresh();
  }

  /** While held, the limit cannot run out: the caller reads slowly, or memory is short, which is not the provider's fault. */
  hold(held: boolean): void {
    this.#held = held;
  }

  /** Stops the limit for good. */
  disarm(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #cut(clock: ClockName, ms: number, { afterMs, limitMs, hasAlternative }: Cut): void {
    if (this.#held) return;
    if (!hasAlternative()) {
      this.arm(clock, ms - afterMs);
      return;
    }
    this.cutAfterMs = limitMs;
    this.#expire(clock);
  }

  #expire(clock: ClockName): void {
    if (this.#held || this.expired !== undefined) return;
    this.expired = clock;
    this.#onExpired(clock);
  }
}
