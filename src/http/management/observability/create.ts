import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import {
  configSchema,
  destinationSchema,
  drawDestination,
  nameSchema,
  readConfig,
  readWish,
  settingsShape,
} from './destination-shape.ts';

const TYPE_CHARS_MAX = 50;

const bodySchema = z
  .strictObject({
    type: z.string().min(1).max(TYPE_CHARS_MAX).describe('`otel-collector` or `webhook`.'),
    name: nameSchema,
    config: configSchema,
    workspace_id: z.uuid().optional().describe('Default: the default workspace.'),
    ...settingsShape,
  })
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
  async handle({ body, services }) {
    const { type, workspace_id: named, name, config, ...settings } = body;
    const workspaceId = await services.workspaces.idOf(named);
    const record = await services.destinations.create({
      ...readWish(settings),
      type,
      name,
      config: readConfig(config),
      workspaceId,
    });
    return { status: 201, body: { data: drawDestination(record) } };
  },
});
