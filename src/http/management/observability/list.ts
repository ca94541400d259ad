import { z } from 'zod';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { destinationSchema, serializeDestination } from './destination-shape.ts';

export const listDestinations = defineRoute({
  method: 'GET',
  path: '/observability/destinations',
  scope: 'management',
  operationId: 'listObservabilityDestinations',
  tag: 'Observability',
  summary: 'List where records of generations are sent, oldest first',
  params: NOTHING,
  query: z.strictObject({ ...pageShape, workspace_id: z.uuid().optional().describe('Only those of this workspace.') }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of destinations.', schema: pageSchema(destinationSchema) } },
  errors: [400],
  async handle({ query, services }) {
    const { workspace_id: workspaceId } = query;
    const page = await services.destinations.list({
      ...parseWindow(query),
      ...(workspaceId !== undefined && { workspaceId }),
    });
    return { status: 200, body: serializePage(page, serializeDestination) };
  },
});
