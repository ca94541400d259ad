import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import {
  configSchema,
  destinationPathSchema,
  destinationSchema,
  drawDestination,
  nameSchema,
  readWish,
  settingsShape,
} from './destination-shape.ts';

const bodySchema = z
  .strictObject({ name: nameSchema.optional(), config: configSchema.optional(), ...settingsShape })
  .meta({ id: 'UpdateObservabilityDestinationRequest' });

export const updateDestination = defineRoute({
  method: 'PATCH',
  path: '/observability/destinations/{id}',
  scope: 'management',
  operationId: 'updateObservabilityDestination',
  tag: 'Observability',
  summary:
    'Change a destination; what is left out stays as it is, and so do values of `config` that are sent back masked',
  params: destinationPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: destinationSchema }) } },
  errors: [400, 404, 409, 413],
  async handle({ params, body, services }) {
    const record = await services.destinations.update(params.id, readWish(body));
    return { status: 200, body: { data: drawDestination(record) } };
  },
});
