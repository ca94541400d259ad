import { z } from 'zod';
import { LIMIT_USD_MAX } from '../../../resources/shapes.ts';
import { nanoFromUsd } from '../../../lib/money.ts';
import { touchWorkspace } from '../workspaces/touch-workspace.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { subjectOf } from '../workspaces/workspace-shape.ts';
import { budgetPathSchema, budgetSchema, serializeBudget, includeByokSchema } from './budget-shape.ts';

/** The least amount that counts, one nano-USD: a budget of zero is no budget. */
const USD_MIN = 1e-9;

const bodySchema = z
  .strictObject({
    limit_usd: z.number().min(USD_MIN, { error: 'must be above 0' }).max(LIMIT_USD_MAX),
    include_byok_in_budgets: includeByokSchema.optional(),
  })
  .meta({ id: 'UpsertWorkspaceBudgetRequest' });

export const putBudget = defineRoute({
  method: 'PUT',
  path: '/workspaces/{id}/budgets/{interval}',
  scope: 'management',
  operationId: 'putWorkspaceBudget',
  tag: 'Workspaces',
  summary: 'Set the budget of a workspace for one interval; a broader one has to be larger',
  audited: 'values',
  params: budgetPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: {
    200: {
      description: 'The budget.',
      schema: z.strictObject({ data: budgetSchema, include_byok_in_budgets: includeByokSchema }),
    },
  },
  errors: [400, 404, 413],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, body, services }) {
    const { budget, includeByok } = await services.budgets.put(
      params.id,
      params.interval,
      nanoFromUsd(body.limit_usd),
      body.include_byok_in_budgets,
    );
    return {
      status: 200,
      body: { data: serializeBudget(budget), include_byok_in_budgets: includeByok },
      subject: subjectOf({ id: budget.workspaceId }, `/budgets/${budget.interval}`),
    };
  },
});
