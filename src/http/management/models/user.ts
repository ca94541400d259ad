import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { requireKind } from '../../../accounts/keys/authenticate.ts';
import { principalOfKey } from '../principal-of-key.ts';
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
  query: z.looseObject({
    ...pageQuery,
    as_key: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('For management keys: the hash of the key whose models are listed.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of models.', schema: modelsListSchema } },
  errors: [400, 403, 503],
  async handle({ principal, query, services: { listing } }) {
    assert(principal !== undefined, 'only a key gets here');
    const { as_key: asKey } = query;
    if (asKey !== undefined) requireKind(principal, 'management');
    const caller = asKey === undefined ? principal : await principalOfKey(listing.admitKey, asKey, 'query.as_key');
    const isAllowed = await listing.allowedTo(caller);
    const models = listing.catalog
      .list()
      .filter((model) => model.endpoints.some((endpoint) => isAllowed(model, endpoint)));
    return { status: 200, body: serializePage(models, query, `${listing.baseUrl()}/models/user`) };
  },
});
