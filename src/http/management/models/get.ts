import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { Catalog, Resolution } from '../../../catalog/model.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeModel, modelSchema } from './model-shape.ts';

export const modelPath = z.strictObject({
  author: z.string().min(1).max(256),
  slug: z.string().min(1).max(256).describe('With variant suffixes, if any; `family-latest` for an alias.'),
});

/** @throws GatewayError 404 */
export function findModel(catalog: Catalog, { author, slug }: z.output<typeof modelPath>): Resolution {
  const name = author === '' ? slug : `${author}/${slug}`;
  const found = catalog.resolve?.(name);
  // The catalog does not promise that a pass-through name exists.
  if (found === undefined || !catalog.list().includes(found.model))
    throw new GatewayError('not_found', `There is no model ${JSON.stringify(name)} here.`);
  return found;
}

export const getModel = defineRoute({
  method: 'GET',
  path: '/model/{author}/{slug}',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'getModel',
  tag: 'Models',
  summary: 'One model; variants and aliases are resolved',
  params: modelPath,
  query: z.looseObject({}),
  body: NO_BODY,
  responses: { 200: { description: 'The model.', schema: z.strictObject({ data: modelSchema }) } },
  errors: [404],
  handle({ params, services: { listing } }) {
    const { model, alias } = findModel(listing.catalog, params);
    const serialized = serializeModel(model);
    const target = { slug: model.slug, name: model.name };
    const data = alias === undefined ? serialized : { ...serialized, id: alias, alias_target: target };
    return { status: 200, body: { data } };
  },
});
