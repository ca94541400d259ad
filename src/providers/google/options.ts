import { z } from 'zod';

export const googleOptions = z.strictObject({
  /** Callers may name files that the key opens: of buckets, and of those that were uploaded with it. */
  storage_uris: z.boolean().optional(),
});
