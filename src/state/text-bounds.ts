/** The length of one kept text, in UTF-16 units. */
export const TEXT_CHARS_MAX = 1_048_576;
/** One day: the longest life of a cached response. @spec cache-2 */
export const TEXT_LIFE_MS_MAX = 86_400_000;
