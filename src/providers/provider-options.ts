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

/** The `options` of a provider: its adapter's own, those of all providers, and stored files for formats that have them. */
export function optionsOf({ options, formats }: ProviderAdapter): ProviderAdapter['options'] {
  const reportsFiles = formats.some(({ format }) => STORED_FILE_FORMATS.has(format));
  return (reportsFiles ? storedFileOptions : commonOptions).extend(options?.shape ?? {});
}
