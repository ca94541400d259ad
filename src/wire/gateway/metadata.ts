import { z } from 'zod';

/** @spec chat-33: `metadata`. */
const METADATA_PAIRS_MAX = 16;
const METADATA_KEY_CHARS_MAX = 64;
const METADATA_VALUE_CHARS_MAX = 512;

/** What a caller notes beside a request. @spec chat-33 */
export const metadata = z
  .record(
    z
      .string()
      .max(METADATA_KEY_CHARS_MAX)
      .regex(/^[^[\]]*$/, { error: 'must not contain "[" or "]"' }),
    z.string().max(METADATA_VALUE_CHARS_MAX),
  )
  .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS_MAX, {
    error: `must have at most ${METADATA_PAIRS_MAX} pairs`,
  });
