/** UTF-16 units of one kept text. */
export const TEXT_CHARS_MAX = 1_048_576;
/** One day: the longest life of an answer in the cache. @spec cache-2 */
export const TEXT_LIFE_MS_MAX = 86_400_000;
