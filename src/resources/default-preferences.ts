import { z } from 'zod';
import type { DefaultPreferences } from '../canonical/directives.ts';
import { json, nullable, type Column } from './columns.ts';

const NAMES_MAX = 100;
const NAME_CHARS_MAX = 256;

const SORTS = ['price', 'throughput', 'latency', 'exacto'] as const;
const sentNames = z.array(z.string().min(1).max(NAME_CHARS_MAX)).max(NAMES_MAX).nullish();

/** The same members as `defaults.provider` of the configuration. */
export const defaultPreferencesSchema = z
  .strictObject({
    order: sentNames,
    only: sentNames,
    ignore: sentNames,
    sort: z.enum(SORTS).nullish(),
    data_collection: z.enum(['allow', 'deny']).nullish(),
    zdr: z.boolean().nullish(),
  })
  .nullable()
  .describe(
    'Of requests that say nothing else. `only` intersects and `ignore` unites with what a request says, `zdr` and `data_collection: deny` stay.',
  )
  .meta({ id: 'DefaultProviderPreferences' });

type Sent = z.output<typeof defaultPreferencesSchema>;

const names = z.array(z.string()).readonly().exactOptional();
const stored = nullable(
  json(
    z.strictObject({
      order: names,
      only: names,
      ignore: names,
      sort: z
        .strictObject({
          by: z.enum(SORTS).exactOptional(),
          partition: z.enum(['model', 'none']).exactOptional(),
        })
        .exactOptional(),
      dataCollection: z.enum(['allow', 'deny']).exactOptional(),
      zdr: z.boolean().exactOptional(),
    }),
  ),
);

/** Null: none, and so are preferences that say nothing. */
export const defaultPreferences: Column<string | null, DefaultPreferences | null, Sent> = {
  encode: stored.encode,
  decode: stored.decode,
  parse(sent) {
    if (sent === null) return null;
    const { order, only, ignore, sort, data_collection, zdr } = sent;
    const preferences: DefaultPreferences = {
      ...(order && { order }),
      ...(only && { only }),
      ...(ignore && { ignore }),
      ...(sort && { sort: { by: sort } }),
      ...(data_collection && { dataCollection: data_collection }),
      ...(typeof zdr === 'boolean' && { zdr }),
    };
    return Object.keys(preferences).length === 0 ? null : preferences;
  },
  serialize(preferences) {
    if (preferences === null) return null;
    const { order, only, ignore, sort, dataCollection, zdr } = preferences;
    return {
      ...(order && { order: [...order] }),
      ...(only && { only: [...only] }),
      ...(ignore && { ignore: [...ignore] }),
      ...(sort?.by && { sort: sort.by }),
      ...(dataCollection && { data_collection: dataCollection }),
      ...(zdr !== undefined && { zdr }),
    };
  },
};
