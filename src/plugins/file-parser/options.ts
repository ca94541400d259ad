import { z } from 'zod';

/** @source seed 2.2, generation.md 4.4 */
export const fileParserOptions = z.object({
  pdf: z
    .object({
      /** `pdf-text` is the deprecated name of `cloudflare-ai`. Unset: `native` where files are taken, else `mistral-ocr`. */
      engine: z.enum(['mistral-ocr', 'cloudflare-ai', 'native', 'pdf-text']).nullish(),
    })
    .optional(),
});
