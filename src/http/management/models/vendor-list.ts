import { z } from 'zod';
import type { Model } from '../../../catalog/model.ts';
import { createdOf } from './model-shape.ts';

const PAGE_DEFAULT = 20;
const MS_PER_S = 1_000;

/** @source platform.claude.com "List Models", read 2026-11; an unknown day is the epoch's first */
export const vendorListSchema = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.literal('model'),
      id: z.string(),
      display_name: z.string(),
      created_at: z.iso.datetime(),
    }),
  ),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** Pages are cut by the ids around them: `after_id`, or `before_id` for the page that ends before it. */
export function drawVendorList(
  models: readonly Model[],
  query: Readonly<Record<string, unknown>>,
): z.output<typeof vendorListSchema> {
  const limit = typeof query['limit'] === 'number' ? query['limit'] : PAGE_DEFAULT;
  const ids = models.map(({ slug }) => slug);
  const after = placeOf(ids, query['after_id']);
  const before = placeOf(ids, query['before_id']);
  const start = after === undefined ? (before === undefined ? 0 : Math.max(0, before - limit)) : after + 1;
  const end = before === undefined ? start + limit : Math.min(before, start + limit);
  const page = models.slice(start, end);
  return {
    data: page.map((model) => ({
      type: 'model',
      id: model.slug,
      display_name: model.name,
      created_at: new Date(createdOf(model) * MS_PER_S).toISOString(),
    })),
    has_more: before === undefined ? end < models.length : start > 0,
    first_id: page[0]?.slug ?? null,
    last_id: page.at(-1)?.slug ?? null,
  };
}

function placeOf(ids: readonly string[], id: unknown): number | undefined {
  const place = typeof id === 'string' ? ids.indexOf(id) : -1;
  return place < 0 ? undefined : place;
}
