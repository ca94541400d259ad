import { z } from 'zod';
import { budgetResource, type BudgetRow } from '../../../resources/workspace-parts.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';

export const budgetPathSchema = workspacePathSchema.extend({
  interval: z.enum(['daily', 'weekly', 'monthly', 'lifetime']).describe('In UTC.'),
});

export const { schema: budgetSchema } = budgetResource;

/** One setting for the whole workspace, beside its budgets. */
export const includeByokSchema = z
  .boolean()
  .describe('Whether calls on BYOK credentials count against the budgets, at list price.');

export function serializeBudget(budget: BudgetRow): z.output<typeof budgetSchema> {
  return budgetResource.serialize(budget, {});
}
