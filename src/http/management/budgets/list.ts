import { z } from 'zod';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';
import { budgetSchema, serializeBudget, includeByokSchema } from './budget-shape.ts';

export const listBudgets = defineRoute({
  method: 'GET',
  path: '/workspaces/{id}/budgets',
  scope: 'management',
  operationId: 'listWorkspaceBudgets',
  tag: 'Workspaces',
  summary: 'The budgets of a workspace, the broadest interval first',
  params: workspacePathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'All budgets.',
      schema: z.strictObject({ data: z.array(budgetSchema), include_byok_in_budgets: includeByokSchema }),
    },
  },
  errors: [404],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, services }) {
    const { budgets, includeByok } = await services.budgets.list(params.id);
    return { status: 200, body: { data: budgets.map(serializeBudget), include_byok_in_budgets: includeByok } };
  },
});
