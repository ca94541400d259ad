import { z } from 'zod';

/** @spec plugin-10 */
export const fileParserOptions = z.object({
  pdf: z
    .object({
      /** `pdf-text` is the deprecated name of `cloudflare-ai`. Unset: `native` where files are taken, else `mistral-ocr`. */
      engine: z.enum(['mistral-ocr', 'cloudflare-ai', 'native', 'pdf-text']).nullish(),
    })
    .optional(),
});
