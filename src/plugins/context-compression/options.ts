import { z } from 'zod';

/** @source generation.md 4.6 */
export const contextCompressionOptions = z.object({
  engine: z.literal('middle-out').optional(),
});
