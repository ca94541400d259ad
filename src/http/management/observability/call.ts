import { z } from 'zod';
import { touchDestination } from './touch-destination.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { destinationPathSchema } from './destination-shape.ts';

export const testDestination = defineRoute({
  method: 'POST',
  path: '/observability/destinations/{id}/test',
  scope: 'management',
  operationId: 'testObservabilityDestination',
  tag: 'Observability',
  summary: 'Call a destination as saving it does, without a record',
  params: destinationPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'It took the call.',
      schema: z.strictObject({ data: z.strictObject({ success: z.literal(true) }) }),
    },
  },
  errors: [400, 404],
  onlyReads: true,
  users: ({ params, services }) => touchDestination(services, params.id),
  async handle({ params, services }) {
    await services.destinations.test(params.id);
    return { status: 200, body: { data: { success: true } } };
  },
});
