import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { responsePathSchema, responseSchema } from './response-path.ts';

export const cancelResponse = defineRoute({
  method: 'POST',
  path: '/responses/{response_id}/cancel',
  scope: 'normal',
  role: 'member',
  operationId: 'cancelResponse',
  tag: 'Responses',
  summary: 'Stop a background response; one that has ended stays as it is',
  params: responsePathSchema,
  query: NOTHING,
  body: NO_BODY,
  namesBareParameters: true,
  responses: { 200: { description: 'The response.', schema: responseSchema } },
  errors: [400, 404],
  async handle({ params, principal, services }) {
    return { status: 200, body: await services.storedResponses.cancel(callerOf(principal), params.response_id) };
  },
});
