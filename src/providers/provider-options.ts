import { z } from 'zod';
import { STORED_FILE_FORMATS, type ProviderAdapter } from './contract.ts';

const storedFileOptions = z.strictObject({
  /** Callers may name files that were uploaded with the operator's key. */
  stored_files: z.boolean().optional(),
});

/** What may stand under `options` of a provider: its adapter's own, and what goes for all that can be told of stored files. */
export function optionsOf({ options, formats }: ProviderAdapter): ProviderAdapter['options'] {
  if (!formats.some(({ format }) => STORED_FILE_FORMATS.has(format))) return options;
  return storedFileOptions.extend(options?.shape ?? {});
}
