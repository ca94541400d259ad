import { z } from 'zod';
import type { WorkspaceBudget } from '../../../accounts/workspace-budgets.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { drawTime } from '../keys/key-shape.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';

export const budgetPathSchema = workspacePathSchema.extend({
  interval: z.enum(['daily', 'weekly', 'monthly', 'lifetime']).describe('In UTC.'),
});

/** @source reference shapes, `WorkspaceBudget` */
export const budgetSchema = z
  .strictObject({
    id: z.uuid(),
    workspace_id: z.uuid(),
    limit_usd: z.number(),
    reset_interval: z.enum(['daily', 'weekly', 'monthly']).nullable().describe('Null: it is for all time.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'WorkspaceBudget' });

/** Of the whole workspace: it stands beside its budgets. */
export const includeByokSchema = z
  .boolean()
  .describe('Whether calls on credentials that callers brought count against the budgets, at list price.');

export function drawBudget(budget: WorkspaceBudget): z.output<typeof budgetSchema> {
  return {
    id: budget.id,
    workspace_id: budget.workspaceId,
    limit_usd: usdFromNano(budget.limitNanoUsd),
    reset_interval: budget.interval === 'lifetime' ? null : budget.interval,
    created_at: drawTime(budget.createdAtMs),
    updated_at: drawTime(budget.updatedAtMs),
  };
}
