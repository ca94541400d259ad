import { z } from 'zod';

/** @source seed 2.2 "Switchyard router" */
export const switchyardRouterOptions = z.object({
  /** Absent: `capability`. */
  algorithm: z.enum(['capability', 'stage', 'auto', 'random', 'composite', 'passthrough']).optional(),
});
