import { z } from 'zod';
import type { DefaultPlugin } from '../canonical/default-plugins.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';

const schema = z
  .array(
    z.strictObject({
      id: z.string(),
      enabled: z.boolean(),
      options: z.custom<JsonObject>(isJsonObject),
      preventOverrides: z.boolean(),
    }),
  )
  .readonly();

/** The columns `default_plugins`. Null: none. */
export function writeDefaultPlugins(plugins: readonly DefaultPlugin[] | null): string | null {
  return plugins === null ? null : JSON.stringify(plugins);
}

/** @throws Error for what nothing here wrote: without it a request would run without what its account demands */
export function readDefaultPlugins(text: string | null): readonly DefaultPlugin[] | null {
  return text === null ? null : schema.parse(JSON.parse(text));
}
