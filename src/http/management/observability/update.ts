import { z } from 'zod';
import { destinationResource } from '../../../resources/destinations.ts';
import { touchDestination } from './touch-destination.ts';
import { defineRoute, NOTHING } from '../route.ts';
import {
  configSchema,
  destinationPathSchema,
  destinationSchema,
  serializeDestination,
  toConfig,
  testShape,
} from './destination-shape.ts';

const { name, ...settings } = destinationResource.updateShape;
const bodySchema = z
  .strictObject({ name, config: configSchema.optional(), ...settings, ...testShape })
  .meta({ id: 'UpdateObservabilityDestinationRequest' });

export const updateDestination = defineRoute({
  method: 'PATCH',
  path: '/observability/destinations/{id}',
  scope: 'management',
  operationId: 'updateObservabilityDestination',
  tag: 'Observability',
  summary:
    'Change a destination; what is left out stays as it is, and so do values of `config` that are sent back masked. An address of another origin takes the secrets again',
  params: destinationPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: destinationSchema }) } },
  errors: [400, 404, 409, 413],
  users: ({ params, services }) => touchDestination(services, params.id),
  async handle({ params, body, services }) {
    const { config, skip_test: skipsTest } = body;
    const record = await services.destinations.update(params.id, {
      ...destinationResource.parsePatch(body, services),
      ...(config !== undefined && { config: toConfig(config) }),
      skipsTest,
    });
    return { status: 200, body: { data: serializeDestination(record) } };
  },
});
