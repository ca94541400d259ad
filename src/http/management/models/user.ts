import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { pageQuery } from './filters.ts';
import { serializePage, modelsListSchema } from './list.ts';

export const listModelsOfCaller = defineRoute({
  method: 'GET',
  path: '/models/user',
  scope: 'any',
  role: 'member',
  hasTag: true,
  operationId: 'listModelsUser',
  tag: 'Models',
  summary: 'List the models that preferences, data policy and guardrails leave to the caller',
  params: NOTHING,
  query: z.looseObject(pageQuery),
  body: NO_BODY,
  responses: { 200: { description: 'A page of models.', schema: modelsListSchema } },
  errors: [400, 503],
  async handle({ principal, query, services: { listing } }) {
    assert(principal !== undefined, 'only a key gets here');
    const isAllowed = await listing.allowedTo(principal);
    const models = listing.catalog
      .list()
      .filter((model) => model.endpoints.some((endpoint) => isAllowed(model, endpoint)));
    return { status: 200, body: serializePage(models, query, `${listing.baseUrl()}/models/user`) };
  },
});
