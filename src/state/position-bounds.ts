/** So long a published position holds without being renewed. */
export const POSITION_LIFE_MS = 10_000;
/** How often a process renews its position, while some of its journal is not stored. */
export const POSITION_EVERY_MS = 2_000;
/** So long it is remembered that a process has records which are not stored. */
export const POSITION_MEMORY_MS = 3_600_000;
