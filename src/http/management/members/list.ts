import { pageQuerySchema } from '../page.ts';
import { defineList } from '../resource-routes.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { serializeMember, memberSchema } from './member-shape.ts';

export const listMembers = defineList({
  path: '/workspaces/{id}/members',
  operationId: 'listWorkspaceMembers',
  tag: 'Workspaces',
  summary: 'List the users that were added to a workspace, oldest first',
  params: workspacePathSchema,
  query: pageQuerySchema,
  description: 'A page of members.',
  schema: memberSchema,
  serialize: serializeMember,
  users: ({ params, services }) => touchWorkspace(services, params.id, { isForMembers: true }),
  find: ({ members }, window, { params }) => members.list(params.id, window),
});
