import { z } from 'zod';

/** @spec plugin-26 */
export const contextCompressionOptions = z.object({
  engine: z.literal('middle-out').optional(),
});
