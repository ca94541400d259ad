import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { pageQuery } from './filters.ts';
import { drawPage, modelsListSchema } from './list.ts';

export const listModelsOfCaller = defineRoute({
  method: 'GET',
  path: '/models/user',
  scope: 'any',
  hasTag: true,
  operationId: 'listModelsUser',
  tag: 'Models',
  summary: 'List the models that are left to the caller by preferences and data policy',
  params: NOTHING,
  query: z.looseObject(pageQuery),
  body: NO_BODY,
  responses: { 200: { description: 'A page of models.', schema: modelsListSchema } },
  errors: [400],
  handle({ query, services: { listing } }) {
    const models = listing.catalog.list().filter(({ endpoints }) => endpoints.some(listing.isAllowed));
    return { status: 200, body: drawPage(models, query, `${listing.baseUrl()}/models/user`) };
  },
});
