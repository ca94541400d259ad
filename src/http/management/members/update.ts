import { z } from 'zod';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';
import { serializeMember, memberSchema } from './member-shape.ts';

/** @spec people-11 */
export const updateMember = defineRoute({
  method: 'PATCH',
  path: '/workspaces/{id}/members/{user_id}',
  scope: 'management',
  operationId: 'updateWorkspaceMember',
  tag: 'Workspaces',
  summary: 'Make a member of a workspace its admin, or a member again',
  audited: 'values',
  params: workspacePathSchema.extend({ user_id: z.string() }),
  query: NOTHING,
  body: z.strictObject({ role: z.enum(['admin', 'member']) }).meta({ id: 'UpdateWorkspaceMemberRequest' }),
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: memberSchema }) } },
  errors: [400, 404, 413],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, body, services }) {
    const member = await services.members.setRole(params.id, params.user_id, body.role);
    return { status: 200, body: { data: serializeMember(member) } };
  },
});
