import { z } from 'zod';
import type { DefaultPreferences } from '../canonical/default-preferences.ts';

const names = z.array(z.string()).readonly().exactOptional();
const sort = z.strictObject({
  by: z.enum(['price', 'throughput', 'latency', 'exacto']).exactOptional(),
  partition: z.enum(['model', 'none']).exactOptional(),
});

const schema = z.strictObject({
  order: names,
  only: names,
  ignore: names,
  sort: sort.exactOptional(),
  dataCollection: z.enum(['allow', 'deny']).exactOptional(),
  zdr: z.boolean().exactOptional(),
});

/** The columns `default_provider_preferences`. Null: none. */
export function writePreferences(preferences: DefaultPreferences | null): string | null {
  return preferences === null ? null : JSON.stringify(preferences);
}

/** @throws Error for what nothing here wrote: without it a request would go where it must not */
export function readPreferences(text: string | null): DefaultPreferences | null {
  return text === null ? null : schema.parse(JSON.parse(text));
}
