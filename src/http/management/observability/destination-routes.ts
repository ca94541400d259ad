import { z } from 'zod';
import { DEFAULT_WORKSPACE_ID } from '../../../accounts/principal.ts';
import { pageShape } from '../page.ts';
import { defineDelete, defineGet, defineList } from '../resource-routes.ts';
import { NOTHING } from '../route.ts';
import { touchNamed } from '../workspaces/touch-workspace.ts';
import { touchDestination } from './touch-destination.ts';
import { destinationPathSchema, destinationSchema, serializeDestination } from './destination-shape.ts';

const shown = { schema: destinationSchema, serialize: serializeDestination };

export const listDestinations = defineList({
  path: '/observability/destinations',
  operationId: 'listObservabilityDestinations',
  tag: 'Observability',
  summary: 'List where records of generations are sent, oldest first',
  params: NOTHING,
  query: z.strictObject({ ...pageShape, workspace_id: z.uuid().optional().describe('Only those of this workspace.') }),
  description: 'A page of destinations.',
  ...shown,
  users: ({ query, services }) => touchNamed(services, query.workspace_id),
  find({ destinations }, window, { query, viewer }) {
    // A user sees those of one workspace at a time: the one that its rights were checked for.
    const workspaceId = query.workspace_id ?? (viewer && DEFAULT_WORKSPACE_ID);
    return destinations.list({ ...window, ...(workspaceId !== undefined && { workspaceId }) });
  },
});

export const getDestination = defineGet({
  path: '/observability/destinations/{id}',
  operationId: 'getObservabilityDestination',
  tag: 'Observability',
  summary: 'Get one destination, its secrets masked',
  params: destinationPathSchema,
  description: 'The destination.',
  ...shown,
  users: ({ params, services }) => touchDestination(services, params.id),
  find: ({ destinations }, { id }) => destinations.get(id),
});

export const deleteDestination = defineDelete({
  path: '/observability/destinations/{id}',
  operationId: 'deleteObservabilityDestination',
  tag: 'Observability',
  summary: 'Delete a destination; what waits to be sent there is not sent any more',
  params: destinationPathSchema,
  description: 'It is gone.',
  users: ({ params, services }) => touchDestination(services, params.id),
  remove: ({ destinations }, { id }) => destinations.delete(id),
});
