import { z } from 'zod';

export const responseHealingOptions = z.object({
  /** Ours: streamed answers are mended too, by holding back what may have to change. Default: whole answers only. */
  stream: z.boolean().optional(),
});
