/** A durable sum that was read counts no longer than this, whatever it has become since. */
export const SPENT_LIFE_MS = 60_000;
/** Sums that are told to be outdated while they are read are read again, so many times. */
export const ROUNDS_MAX = 8;
