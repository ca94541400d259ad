import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { destinationPathSchema, destinationSchema, serializeDestination } from './destination-shape.ts';

export const getDestination = defineRoute({
  method: 'GET',
  path: '/observability/destinations/{id}',
  scope: 'management',
  operationId: 'getObservabilityDestination',
  tag: 'Observability',
  summary: 'Get one destination, its secrets masked',
  params: destinationPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The destination.', schema: z.strictObject({ data: destinationSchema }) } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeDestination(await services.destinations.get(params.id)) } };
  },
});
