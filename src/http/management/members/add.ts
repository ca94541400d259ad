import { z } from 'zod';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';
import { serializeMember, memberIdsShape, memberSchema } from './member-shape.ts';

export const addMembers = defineRoute({
  method: 'POST',
  path: '/workspaces/{id}/members/add',
  scope: 'management',
  operationId: 'addWorkspaceMembers',
  tag: 'Workspaces',
  summary: 'Add users to a workspace; existing members stay',
  audited: 'values',
  params: workspacePathSchema,
  query: NOTHING,
  body: z.strictObject(memberIdsShape).meta({ id: 'BulkAddWorkspaceMembersRequest' }),
  responses: {
    200: {
      description: 'All named users, and how many of them are new.',
      schema: z.strictObject({ data: z.array(memberSchema), added_count: z.int() }),
    },
  },
  errors: [400, 404, 413],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, body, services }) {
    const { members, newCount } = await services.members.add(params.id, body.user_ids);
    return { status: 200, body: { data: members.map(serializeMember), added_count: newCount } };
  },
});
