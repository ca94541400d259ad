import { z } from 'zod';

export const responseHealingOptions = z.object({
  /** An addition of this gateway: also repairs streams, by holding back what may change. Default: only responses that are not streamed. */
  stream: z.boolean().optional(),
});
