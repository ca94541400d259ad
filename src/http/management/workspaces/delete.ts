import { z } from 'zod';
import { defineRoute, NO_BODY } from '../route.ts';
import { subjectOf, workspacePathSchema } from './workspace-shape.ts';

/**
 * The name of the parameter is the public one: OpenRouter TypeScript SDK 1.3.19, `DeleteWorkspaceRequest`, read 2026-11.
 * @spec workspace-6
 */
export const deleteWorkspace = defineRoute({
  method: 'DELETE',
  path: '/workspaces/{id}',
  scope: 'management',
  operationId: 'deleteWorkspace',
  tag: 'Workspaces',
  summary:
    'Delete a workspace with its budgets, members, guardrails and credentials; refused while it has keys that work',
  params: workspacePathSchema,
  query: z.strictObject({
    confirm_default_workspace_deletion: z
      .enum(['true', 'false'])
      .optional()
      .describe('Without `true` the default workspace is kept: calls that name no workspace mean it.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'The workspace is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [400, 404],
  async handle({ params, query, services }) {
    const workspace = await services.workspaces.delete(params.id, query.confirm_default_workspace_deletion === 'true');
    return { status: 200, body: { deleted: true }, subject: subjectOf(workspace) };
  },
});
