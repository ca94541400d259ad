import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { destinationPathSchema } from './destination-shape.ts';

export const deleteDestination = defineRoute({
  method: 'DELETE',
  path: '/observability/destinations/{id}',
  scope: 'management',
  operationId: 'deleteObservabilityDestination',
  tag: 'Observability',
  summary: 'Delete a destination; what waits to be sent there is still sent',
  params: destinationPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'It is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [404],
  async handle({ params, services }) {
    await services.destinations.delete(params.id);
    return { status: 200, body: { deleted: true } };
  },
});
