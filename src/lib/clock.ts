/** Time as a collaborator, so that tests decide what it is. */
export interface Clock {
  /** Wall clock, ms since 1970. For dates that leave the process. */
  nowMs(this: void): number;
  /** Monotonic, ms with a fraction. For durations. */
  monotonicMs(this: void): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
