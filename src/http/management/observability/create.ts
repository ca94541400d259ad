import { z } from 'zod';
import { destinationResource } from '../../../resources/destinations.ts';
import { touchNamed } from '../workspaces/touch-workspace.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { destinationSchema, newConfigSchema, serializeDestination, toConfig, testShape } from './destination-shape.ts';

const { type, name, workspace_id, ...settings } = destinationResource.createShape;
const bodySchema = z
  .strictObject({ type, name, config: newConfigSchema, workspace_id, ...settings, ...testShape })
  .meta({ id: 'CreateObservabilityDestinationRequest' });

export const createDestination = defineRoute({
  method: 'POST',
  path: '/observability/destinations',
  scope: 'management',
  operationId: 'createObservabilityDestination',
  tag: 'Observability',
  summary: 'Have records of generations sent somewhere; it is called once before it is saved',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    201: { description: 'The destination, its secrets masked.', schema: z.strictObject({ data: destinationSchema }) },
  },
  errors: [400, 409, 413],
  users: ({ body, services }) => touchNamed(services, body.workspace_id),
  async handle({ body, services }) {
    const workspaceId = await services.workspaces.idOf(body.workspace_id);
    const record = await services.destinations.create({
      ...destinationResource.parseNew(body, services),
      config: toConfig(body.config),
      skipsTest: body.skip_test,
      workspaceId,
    });
    return { status: 201, body: { data: serializeDestination(record) } };
  },
});
