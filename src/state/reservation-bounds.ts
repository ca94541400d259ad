/** A durable sum is used no longer than this after it was read. */
export const SPENT_LIFE_MS = 60_000;
/** The same while Redis is away and other processes spend from the same limit unseen. */
export const ALONE_SPENT_LIFE_MS = 1_000;
/** A sum that becomes outdated while it is read is read again, so many times. */
export const ROUNDS_MAX = 8;
