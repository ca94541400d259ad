import { z } from 'zod';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';
import { memberIdsShape } from './member-shape.ts';

export const removeMembers = defineRoute({
  method: 'POST',
  path: '/workspaces/{id}/members/remove',
  scope: 'management',
  operationId: 'removeWorkspaceMembers',
  tag: 'Workspaces',
  summary: 'Remove users from a workspace; refused while one of them owns keys there that work',
  audited: 'values',
  params: workspacePathSchema,
  query: NOTHING,
  body: z.strictObject(memberIdsShape).meta({ id: 'BulkRemoveWorkspaceMembersRequest' }),
  responses: {
    200: { description: 'How many were members.', schema: z.strictObject({ removed_count: z.int() }) },
  },
  errors: [400, 404, 413],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, body, services }) {
    return { status: 200, body: { removed_count: await services.members.remove(params.id, body.user_ids) } };
  },
});
