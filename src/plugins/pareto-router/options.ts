import { z } from 'zod';

/** @spec router-20, router-22 */
export const paretoRouterOptions = z.object({
  /** USD per million input tokens. Stands above `min_coding_score`. */
  max_price: z.number().min(0).optional(),
  /** From 0.66 on the high tier, from 0.33 on the medium one; absent: the high one. */
  min_coding_score: z.number().min(0).max(1).optional(),
  /** Absent: `prompt`, the list price. */
  price_source: z.enum(['prompt', 'weighted_avg']).optional(),
});
