import { z } from 'zod';

/** @source seed 2.2, generation.md 4.3 */
export const webFetchOptions = z.object({
  max_uses: z.int().min(0).optional(),
  allowed_domains: z.array(z.string()).optional(),
  blocked_domains: z.array(z.string()).nullish(),
  /** Approximate: longer pages are cut. */
  max_content_tokens: z.int().min(1).nullish(),
});
