import { z } from 'zod';
import { DESTINATION_TYPES } from '../../../telemetry/destinations/registry.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { formOf } from './destination-shape.ts';

const typeSchema = z.strictObject({
  type: z.string(),
  label: z.string(),
  secrets: z.array(z.string()).describe('Members of `config` that are sealed, and masked when they are shown.'),
  config_schema: z.record(z.string(), z.unknown()).describe('JSON Schema of `config`.'),
});

export const listDestinationTypes = defineRoute({
  method: 'GET',
  path: '/observability/destination-types',
  scope: 'management',
  operationId: 'listObservabilityDestinationTypes',
  tag: 'Observability',
  summary: 'List the kinds of destinations, with the form of their configuration',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'All kinds.', schema: z.strictObject({ data: z.array(typeSchema) }) } },
  errors: [],
  // The same for all: there is nothing to narrow.
  users: 'narrowed',
  handle: () =>
    Promise.resolve({
      status: 200,
      body: {
        data: DESTINATION_TYPES.map((type) => ({
          type: type.type,
          label: type.label,
          secrets: [...type.secrets],
          config_schema: formOf(type),
        })),
      },
    }),
});
