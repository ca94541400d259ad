import { z } from 'zod';
import { usdFromNano } from '../../lib/money.ts';
import type { ExportedGeneration } from './contract.ts';

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

/** `regex` is not among them: a pattern over texts of strangers has no bound on its time. */
const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
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
 * @source reference shapes, `ObservabilityFilterRulesConfig`
 */
export const filterRulesSchema = z
  .strictObject({
    enabled: z.boolean().default(true),
    groups: z
      .array(z.strictObject({ logic: z.enum(['and', 'or']).default('and'), rules: z.array(ruleSchema).max(RULES_MAX) }))
      .max(GROUPS_MAX),
  })
  .describe('A generation is sent when it fits every group. What was said counts where the workspace keeps it.');

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
    }
});

function isNumeric(value: string | number | undefined): boolean {
  return typeof value === 'number' || (value !== undefined && value.trim() !== '' && Number.isFinite(Number(value)));
}

export type FilterRules = z.output<typeof filterRulesSchema>;
type Rule = z.output<typeof ruleSchema>;
type Found = string | number | undefined;

export function fitsRules({ enabled, groups }: FilterRules, generation: ExportedGeneration): boolean {
  if (!enabled) return true;
  return groups.every(({ logic, rules }) => {
    if (rules.length === 0) return true;
    const fits = ({ field, operator, value = '' }: Rule): boolean =>
      COMPARISONS[operator](VALUES[field](generation), value);
    return logic === 'and' ? rules.every(fits) : rules.some(fits);
  });
}

const textOf = (found: Found): string => String(found ?? '');

const COMPARISONS: Readonly<Record<Rule['operator'], (found: Found, value: string | number) => boolean>> = {
  equals: (found, value) => found !== undefined && textOf(found) === String(value),
  not_equals: (found, value) => textOf(found) !== String(value),
  contains: (found, value) => textOf(found).includes(String(value)),
  not_contains: (found, value) => !textOf(found).includes(String(value)),
  starts_with: (found, value) => textOf(found).startsWith(String(value)),
  ends_with: (found, value) => textOf(found).endsWith(String(value)),
  gt: (found, value) => Number(found) > Number(value),
  lt: (found, value) => Number(found) < Number(value),
  gte: (found, value) => Number(found) >= Number(value),
  lte: (found, value) => Number(found) <= Number(value),
  exists: (found) => found !== undefined,
  not_exists: (found) => found === undefined,
};

/** `undefined`: the generation has none, or it is not kept. */
const VALUES: Readonly<Record<Rule['field'], (generation: ExportedGeneration) => Found>> = {
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  session_id: ({ sessionId }) => sessionId,
  user_id: ({ endUserId }) => endUserId,
  api_key_name: ({ identity }) => identity.keyName,
  finish_reason: ({ finishReason }) => finishReason,
  input: ({ content }) => content && JSON.stringify(content.input.messages),
  output: ({ content }) => content?.output.completion ?? undefined,
  total_cost: ({ costNanoUsd }) => (costNanoUsd === null ? undefined : usdFromNano(costNanoUsd)),
  total_tokens: ({ tokens }) => tokens.prompt + tokens.completion,
  prompt_tokens: ({ tokens }) => tokens.prompt,
  completion_tokens: ({ tokens }) => tokens.completion,
};
