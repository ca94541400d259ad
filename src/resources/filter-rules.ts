import { z } from 'zod';
import { nullable, text, type Column } from './columns.ts';

const FIELDS = [
  'model',
  'provider',
  'session_id',
  'user_id',
  'api_key_name',
  'finish_reason',
  'input',
  'output',
  'total_cost',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
] as const;

const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'regex',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'gte',
  'lte',
  'exists',
  'not_exists',
] as const;

const GROUPS_MAX = 20;
const RULES_MAX = 50;
const VALUE_CHARS_MAX = 1_000;

const ruleSchema = z.strictObject({
  field: z.enum(FIELDS),
  operator: z.enum(OPERATORS),
  value: z.union([z.string().max(VALUE_CHARS_MAX), z.number()]).optional(),
});

/**
 * Which generations a destination wants: those that fit every group.
 * @source `@openrouter/sdk` 1.3.19, `ObservabilityFilterRulesConfig`
 */
export const filterRulesSchema = z
  .strictObject({
    enabled: z.boolean().default(true),
    groups: z
      .array(z.strictObject({ logic: z.enum(['and', 'or']).default('and'), rules: z.array(ruleSchema).max(RULES_MAX) }))
      .max(GROUPS_MAX),
  })
  .describe('A generation is sent when it fits every group. Content counts where the workspace keeps it.');

const NEEDS_NONE: readonly string[] = ['exists', 'not_exists'];
const NEEDS_NUMBER: readonly string[] = ['gt', 'lt', 'gte', 'lte'];

/** Rules as they are sent: one that could never fit would keep every generation from its destination, unnoticed. */
export const sentFilterRulesSchema = filterRulesSchema.superRefine(({ groups }, context) => {
  for (const [group, { rules }] of groups.entries())
    for (const [rule, { operator, value }] of rules.entries()) {
      const path = ['groups', group, 'rules', rule, 'value'];
      if (value === undefined && !NEEDS_NONE.includes(operator))
        context.addIssue({ code: 'custom', path, message: `is required for "${operator}"` });
      else if (NEEDS_NUMBER.includes(operator) && !isNumeric(value))
        context.addIssue({ code: 'custom', path, message: `must be a number for "${operator}"` });
      else if (operator === 'regex' && typeof value === 'number')
        context.addIssue({ code: 'custom', path, message: 'must be a text for "regex"' });
    }
});

function isNumeric(value: string | number | undefined): boolean {
  return typeof value === 'number' || (value !== undefined && value.trim() !== '' && Number.isFinite(Number(value)));
}

export type FilterRules = z.output<typeof filterRulesSchema>;

/** Kept as they were sent: each reader parses them, so that rules of another version fail for one destination alone. */
export const filterRules: Column<string | null, string | null, FilterRules | null> = {
  ...nullable(text),
  serialize: parseFilterRules,
  parse: (sent) => sent && JSON.stringify(sent),
};

/** @throws Error for what is stored and does not fit */
export function parseFilterRules(stored: string | null): FilterRules | null {
  return stored === null ? null : filterRulesSchema.parse(JSON.parse(stored));
}
