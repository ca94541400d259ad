import { z } from 'zod';
import type { Model } from '../../../catalog/model.ts';
import { defineRoute, NO_BODY, type RouteAnswer } from '../route.ts';
import { findModel, modelPath } from './get.ts';
import { serializeModel, modelSchema } from './model-shape.ts';
import { serializeVendorModel, vendorModelSchema } from './vendor-list.ts';

/** A model as `models.retrieve` of OpenAI's clients reads it, with all other fields of the list. */
const retrievedSchema = modelSchema
  .extend({ object: z.literal('model'), owned_by: z.string() })
  .meta({ id: 'RetrievedModel' });

const FACTS = {
  method: 'GET',
  scope: 'public',
  role: 'member',
  hasTag: true,
  tag: 'Models',
  query: z.looseObject({}),
  body: NO_BODY,
  responses: {
    200: {
      description: "The model; in the messages vendor's shape for a client that sends `anthropic-version`.",
      schema: z.union([retrievedSchema, vendorModelSchema]),
    },
  },
  errors: [404],
} as const;

/** For clients that escape the slash of a slug: `/models/acme%2Fone`. */
export const retrieveModel = defineRoute({
  ...FACTS,
  path: '/models/{id}',
  operationId: 'retrieveModel',
  summary: 'One model, as models.retrieve of clients requests it; a slash in the id is escaped',
  params: z.strictObject({ id: z.string().min(1).max(512) }),
  handle({ params: { id }, headers, services: { listing } }) {
    const slash = id.indexOf('/');
    const found = findModel(listing.catalog, { author: id.slice(0, Math.max(0, slash)), slug: id.slice(slash + 1) });
    return answer(found, headers);
  },
});

export const retrieveModelBySlug = defineRoute({
  ...FACTS,
  path: '/models/{author}/{slug}',
  operationId: 'retrieveModelBySlug',
  summary: 'One model, as models.retrieve of clients requests it',
  params: modelPath,
  handle: ({ params, headers, services: { listing } }) => answer(findModel(listing.catalog, params), headers),
});

/** Keeps the name of an alias as the id: the client compares the id with its request. */
function answer(
  { model, alias }: { readonly model: Model; readonly alias?: string | undefined },
  headers: Readonly<Record<string, unknown>>,
): RouteAnswer {
  const id = alias ?? model.slug;
  if (headers['anthropic-version'] !== undefined) return { status: 200, body: { ...serializeVendorModel(model), id } };
  const target = { slug: model.slug, name: model.name };
  return {
    status: 200,
    body: {
      ...serializeModel(model),
      ...(alias !== undefined && { id, alias_target: target }),
      object: 'model',
      owned_by: model.slug.slice(0, model.slug.indexOf('/')),
    },
  };
}
