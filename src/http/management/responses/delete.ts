import { z } from 'zod';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { responsePathSchema } from './response-path.ts';

export const deleteResponse = defineRoute({
  method: 'DELETE',
  path: '/responses/{response_id}',
  scope: 'normal',
  role: 'member',
  operationId: 'deleteResponse',
  tag: 'Responses',
  summary: 'Delete a response that was kept, for good; what continues it cannot be continued any more',
  params: responsePathSchema,
  query: NOTHING,
  body: NO_BODY,
  namesBareParameters: true,
  responses: {
    200: {
      description: 'It is gone.',
      schema: z
        .strictObject({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
        .meta({ id: 'DeletedResponse' }),
    },
  },
  errors: [404],
  async handle({ params, principal, services }) {
    await services.storedResponses.delete(callerOf(principal), params.response_id);
    return { status: 200, body: { id: params.response_id, object: 'response', deleted: true } };
  },
});
