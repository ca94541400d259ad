import { z } from 'zod';
import type { DefaultPlugin } from '../canonical/directives.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { json, nullable, type Column } from './columns.ts';

const PLUGINS_MAX = 32;

const entrySchema = z.looseObject({
  id: z.string(),
  enabled: z.boolean().optional(),
  prevent_overrides: z
    .boolean()
    .optional()
    .describe(
      'What requests say of this plugin counts for nothing, nor what a key says where this is the workspace’s.',
    ),
});

/** The same objects as in `plugins` of a request. */
export const defaultPluginsSchema = z
  .array(entrySchema)
  .max(PLUGINS_MAX)
  .nullable()
  .describe(
    'Plugins of requests that say nothing of them: the objects of `plugins` of a request, each with `prevent_overrides` if it is to bind. Of two with one id the last counts.',
  )
  .meta({ id: 'DefaultPlugins' });

type Sent = z.output<typeof defaultPluginsSchema>;

const stored = nullable(
  json(
    z
      .array(
        z.strictObject({
          id: z.string(),
          enabled: z.boolean(),
          options: z.custom<JsonObject>(isJsonObject),
          preventOverrides: z.boolean(),
        }),
      )
      .readonly(),
  ),
);

/** Null: none, and so is an empty list. */
export const defaultPlugins: Column<string | null, readonly DefaultPlugin[] | null, Sent> = {
  encode: stored.encode,
  decode: stored.decode,
  parse(sent, path, { readPlugins }) {
    if (sent === null || sent.length === 0) return null;
    const requested = readPlugins(
      sent.map(({ prevent_overrides: _binding, ...entry }) => entry),
      path,
    );
    const all = requested.map((entry, index): DefaultPlugin => ({
      ...entry,
      preventOverrides: sent[index]?.prevent_overrides === true,
    }));
    return [...new Map(all.map((entry) => [entry.id, entry])).values()];
  },
  serialize(plugins) {
    if (plugins === null) return null;
    return plugins.map(({ id, enabled, options, preventOverrides }) => ({
      ...options,
      id,
      enabled,
      prevent_overrides: preventOverrides,
    }));
  },
};
