import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { filterModels, pageQuery } from './filters.ts';
import { filterFacts, modelsListSchema, serializePage } from './list.ts';

export const listEmbeddingsModels = defineRoute({
  method: 'GET',
  path: '/embeddings/models',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'listEmbeddingsModels',
  tag: 'Models',
  summary: 'List the models that make embeddings',
  params: NOTHING,
  query: z.looseObject(pageQuery),
  body: NO_BODY,
  responses: { 200: { description: 'A page of models.', schema: modelsListSchema } },
  errors: [400],
  handle({ query, services: { listing } }) {
    const { offset, limit } = query;
    const models = filterModels(listing.catalog.list(), { output_modalities: 'embeddings' }, filterFacts(listing));
    return { status: 200, body: serializePage(models, { offset, limit }, `${listing.baseUrl()}/embeddings/models`) };
  },
});
