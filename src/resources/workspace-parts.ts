import { z } from 'zod';
import { money, text, textOf, time, type Column } from './columns.ts';
import { defineResource, member, type RowOf } from './resource.ts';

const role = z.enum(['admin', 'member']);

/** @source `@openrouter/sdk` 1.3.19, `WorkspaceMember` */
export const memberResource = defineResource('WorkspaceMember', {
  id: member(text, { shown: z.uuid() }),
  workspace_id: member(text, { shown: z.uuid() }),
  user_id: member(text, { shown: z.string() }),
  role: member(textOf<z.output<typeof role>>(), { shown: role }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
});

export type BudgetInterval = 'daily' | 'weekly' | 'monthly' | 'lifetime';

const interval: Column<BudgetInterval, BudgetInterval, Exclude<BudgetInterval, 'lifetime'> | null> = {
  ...textOf<BudgetInterval>(),
  serialize: (value) => (value === 'lifetime' ? null : value),
  parse: (sent) => sent ?? 'lifetime',
};

/** @source `@openrouter/sdk` 1.3.19, `WorkspaceBudget` */
export const budgetResource = defineResource('WorkspaceBudget', {
  id: member(text, { shown: z.uuid() }),
  workspace_id: member(text, { shown: z.uuid() }),
  limit_nano_usd: member(money, { as: 'limit_usd', shown: z.number() }),
  interval: member(interval, {
    as: 'reset_interval',
    shown: z.enum(['daily', 'weekly', 'monthly']).nullable().describe('Null: it is for all time.'),
  }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at_ms: member(time, { shown: z.iso.datetime() }),
});

export type MemberRow = RowOf<typeof memberResource>;
export type BudgetRow = RowOf<typeof budgetResource>;
