import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { filterModels, modelsQuery } from './filters.ts';
import { filterFacts } from './list.ts';

export const countModels = defineRoute({
  method: 'GET',
  path: '/models/count',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'listModelsCount',
  tag: 'Models',
  summary: 'Count the models that are served here',
  params: NOTHING,
  query: z.looseObject({ output_modalities: modelsQuery.shape.output_modalities }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The count.',
      schema: z.strictObject({ data: z.strictObject({ count: z.int() }) }),
    },
  },
  errors: [400],
  handle({ query: { output_modalities: wanted }, services: { listing } }) {
    const models = filterModels(listing.catalog.list(), { output_modalities: wanted }, filterFacts(listing));
    return { status: 200, body: { data: { count: models.length } } };
  },
});
