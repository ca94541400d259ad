import { z } from 'zod';

/** @spec router-28 */
export const switchyardRouterOptions = z.object({
  /** Absent: `capability`. */
  algorithm: z.enum(['capability', 'stage', 'auto', 'random', 'composite', 'passthrough']).optional(),
});
