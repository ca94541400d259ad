import { z } from 'zod';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { budgetPathSchema } from './budget-shape.ts';

export const deleteBudget = defineRoute({
  method: 'DELETE',
  path: '/workspaces/{id}/budgets/{interval}',
  scope: 'management',
  operationId: 'deleteWorkspaceBudget',
  tag: 'Workspaces',
  summary: 'Delete the budget of a workspace for one interval, if there is one',
  params: budgetPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'There is none now.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [400, 404],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, services }) {
    await services.budgets.delete(params.id, params.interval);
    return { status: 200, body: { deleted: true } };
  },
});
