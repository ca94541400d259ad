import { z } from 'zod';
import { STORED_FILE_FORMATS, type ProviderAdapter } from './contract.ts';

const commonOptions = z.strictObject({
  /** Callers may name addresses of pictures and files that are not of the public web. */
  private_media: z.boolean().optional(),
});

const storedFileOptions = commonOptions.extend({
  /** Callers may name files that were uploaded with the operator's key. */
  stored_files: z.boolean().optional(),
});

/** What may stand under `options` of a provider: its adapter's own, what goes for all, and for all that can be told of stored files. */
export function optionsOf({ options, formats }: ProviderAdapter): ProviderAdapter['options'] {
  const tellsFiles = formats.some(({ format }) => STORED_FILE_FORMATS.has(format));
  return (tellsFiles ? storedFileOptions : commonOptions).extend(options?.shape ?? {});
}
