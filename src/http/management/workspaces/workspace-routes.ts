import { pageQuerySchema } from '../page.ts';
import { defineGet, defineList } from '../resource-routes.ts';
import { NOTHING } from '../route.ts';
import { touchWorkspace } from './touch-workspace.ts';
import { serializeWorkspace, workspacePathSchema, workspaceSchema } from './workspace-shape.ts';

const shown = { schema: workspaceSchema, serialize: serializeWorkspace };

export const listWorkspaces = defineList({
  path: '/workspaces',
  operationId: 'listWorkspaces',
  tag: 'Workspaces',
  summary: 'List workspaces, oldest first',
  params: NOTHING,
  query: pageQuerySchema,
  description: 'A page of workspaces.',
  ...shown,
  users: 'narrowed',
  find: ({ workspaces }, window, { viewer }) =>
    workspaces.list(window, viewer === undefined ? undefined : [...viewer.workspaces.keys()]),
});

export const getWorkspace = defineGet({
  path: '/workspaces/{id}',
  operationId: 'getWorkspace',
  tag: 'Workspaces',
  summary: 'One workspace, by id or slug',
  params: workspacePathSchema,
  description: 'The workspace.',
  ...shown,
  users: ({ params, services }) => touchWorkspace(services, params.id, { isForMembers: true }),
  find: ({ workspaces }, { id }) => workspaces.get(id),
});
