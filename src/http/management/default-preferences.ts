import { z } from 'zod';
import type { DefaultPreferences } from '../../canonical/default-preferences.ts';

const NAMES_MAX = 100;
const NAME_CHARS_MAX = 256;

const names = z.array(z.string().min(1).max(NAME_CHARS_MAX)).max(NAMES_MAX).nullish();

/** The same members as `defaults.provider` of the configuration. */
export const defaultPreferencesSchema = z
  .strictObject({
    order: names,
    only: names,
    ignore: names,
    sort: z.enum(['price', 'throughput', 'latency', 'exacto']).nullish(),
    data_collection: z.enum(['allow', 'deny']).nullish(),
    zdr: z.boolean().nullish(),
  })
  .nullable()
  .describe(
    'Of requests that say nothing else. `only` intersects and `ignore` unites with what a request says, `zdr` and `data_collection: deny` stay.',
  )
  .meta({ id: 'DefaultProviderPreferences' });

type Sent = z.output<typeof defaultPreferencesSchema>;

export function readDefaultPreferences(sent: Sent): DefaultPreferences | null {
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
}

export function drawDefaultPreferences(preferences: DefaultPreferences | null): Sent {
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
}
