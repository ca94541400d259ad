import { z } from 'zod';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { budgetPathSchema, budgetSchema, serializeBudget, includeByokSchema } from './budget-shape.ts';

export const getBudget = defineRoute({
  method: 'GET',
  path: '/workspaces/{id}/budgets/{interval}',
  scope: 'management',
  operationId: 'getWorkspaceBudget',
  tag: 'Workspaces',
  summary: 'The budget of a workspace for one interval',
  params: budgetPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'The budget.',
      schema: z.strictObject({ data: budgetSchema, include_byok_in_budgets: includeByokSchema }),
    },
  },
  errors: [400, 404],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, services }) {
    const { budget, includeByok } = await services.budgets.get(params.id, params.interval);
    return { status: 200, body: { data: serializeBudget(budget), include_byok_in_budgets: includeByok } };
  },
});
