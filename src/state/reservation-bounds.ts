/** A durable sum that was read counts no longer than this, whatever it has become since. */
export const SPENT_LIFE_MS = 60_000;
/** The same where other processes spend of the same limit and nobody says how much: Redis is away. */
export const ALONE_SPENT_LIFE_MS = 1_000;
/** Sums that are told to be outdated while they are read are read again, so many times. */
export const ROUNDS_MAX = 8;
