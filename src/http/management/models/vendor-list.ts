import { z } from 'zod';
import type { Model } from '../../../catalog/model.ts';
import { contextOf, createdOf } from './model-shape.ts';

const PAGE_DEFAULT = 20;
const MS_PER_S = 1_000;

/** @source platform.claude.com "List Models", read 2026-11; an unknown day is the epoch's first */
export const vendorModelSchema = z.strictObject({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  max_input_tokens: z.int().nullable(),
  max_tokens: z.int().nullable(),
  capabilities: z.null(),
  line: z.null(),
  lifecycle: z.enum(['active', 'deprecated']),
  deprecated_at: z.null(),
  retires_at: z.iso.datetime().nullable(),
});

export const vendorListSchema = z.strictObject({
  data: z.array(vendorModelSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** Serializes a page. The ids around it limit it: `after_id`, or `before_id` for the page that ends before it. */
export function serializeVendorList(
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
    data: page.map(serializeVendorModel),
    has_more: before === undefined ? end < models.length : start > 0,
    first_id: page[0]?.slug ?? null,
    last_id: page.at(-1)?.slug ?? null,
  };
}

/** Serializes a model; what only the vendor's own models have is null. */
export function serializeVendorModel(model: Model): z.output<typeof vendorModelSchema> {
  return {
    type: 'model',
    id: model.slug,
    display_name: model.name,
    created_at: new Date(createdOf(model) * MS_PER_S).toISOString(),
    max_input_tokens: contextOf(model) ?? null,
    max_tokens: model.outputTokensMax ?? model.endpoints[0]?.outputTokensMax ?? null,
    capabilities: null,
    line: null,
    lifecycle: model.expirationDate === undefined ? 'active' : 'deprecated',
    deprecated_at: null,
    retires_at: model.expirationDate === undefined ? null : new Date(model.expirationDate).toISOString(),
  };
}

function placeOf(ids: readonly string[], id: unknown): number | undefined {
  const place = typeof id === 'string' ? ids.indexOf(id) : -1;
  return place < 0 ? undefined : place;
}
