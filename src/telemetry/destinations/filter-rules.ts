import { z } from 'zod';
import { usdFromNano } from '../../lib/money.ts';
import type { ExportedGeneration } from './contract.ts';
import type { PatternJob } from './pattern-job.ts';
import type { PatternSearch } from './pattern-search.ts';

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
      else if (operator === 'regex' && typeof value === 'number')
        context.addIssue({ code: 'custom', path, message: 'must be a text for "regex"' });
    }
});

function isNumeric(value: string | number | undefined): boolean {
  return typeof value === 'number' || (value !== undefined && value.trim() !== '' && Number.isFinite(Number(value)));
}

export type FilterRules = z.output<typeof filterRulesSchema>;
type Rule = z.output<typeof ruleSchema>;
type Found = string | number | undefined;

/** Where one of the patterns stands, and what is wrong with it; `undefined`: all of them can be looked for. */
export async function faultOfPatterns({ groups }: FilterRules): Promise<readonly [string, string] | undefined> {
  for (const [group, { rules }] of groups.entries())
    for (const [index, { operator, value }] of rules.entries()) {
      if (operator !== 'regex') continue;
      // The parser is large, and most gateways never store a pattern.
      const { faultOfPattern } = await import('../../lib/plain-pattern.ts');
      const fault = faultOfPattern(String(value));
      if (fault !== undefined) return [`groups[${group}].rules[${index}].value`, fault];
    }
  return undefined;
}

/**
 * Whether a generation is wanted. At once, unless that depends on a pattern.
 * @throws JobError later, when the patterns took too long
 */
export function fitsRules(
  { enabled, groups }: FilterRules,
  generation: ExportedGeneration,
  patterns: Pick<PatternSearch, 'search'>,
): boolean | Promise<boolean> {
  if (!enabled) return true;
  const valueOf = readOnce(generation);
  const fitsWhere = (isFound: (rule: Rule) => boolean): boolean => {
    const fits = (rule: Rule): boolean => {
      const { field, operator, value = '' } = rule;
      return operator === 'regex' ? isFound(rule) : COMPARISONS[operator](valueOf(field), value);
    };
    return groups.every(({ logic, rules }) => {
      if (rules.length === 0) return true;
      return logic === 'and' ? rules.every(fits) : rules.some(fits);
    });
  };
  const searched = new Set(groups.flatMap(({ rules }) => rules).filter((rule) => isSearched(rule, valueOf)));
  // A pattern that is found only ever adds: where it makes no difference whether all are or none is, nobody need look.
  if (fitsWhere(() => false)) return true;
  if (searched.size === 0 || !fitsWhere((rule) => searched.has(rule))) return false;
  return patterns.search(jobOf([...searched], valueOf)).then((found) => {
    const isFound = new Set([...searched].filter((_rule, index) => found[index]));
    return fitsWhere((rule) => isFound.has(rule));
  });
}

type ValueOf = (field: Rule['field']) => Found;

/** What was said may be long, and many rules may ask for it. */
function readOnce(generation: ExportedGeneration): ValueOf {
  const known = new Map<Rule['field'], Found>();
  return (field) => {
    if (!known.has(field)) known.set(field, VALUES[field](generation));
    return known.get(field);
  };
}

/** What a generation has not matches nothing. */
function isSearched({ operator, field }: Rule, valueOf: ValueOf): boolean {
  return operator === 'regex' && valueOf(field) !== undefined;
}

function jobOf(rules: readonly Rule[], valueOf: ValueOf): PatternJob {
  return {
    texts: Object.fromEntries(rules.map(({ field }) => [field, textOf(valueOf(field))])),
    searches: rules.map(({ field, value }) => ({ field, pattern: String(value) })),
  };
}

const textOf = (found: Found): string => String(found ?? '');

/** A number may be written in more than one way. */
function isEqual(found: Found, value: string | number): boolean {
  return typeof found === 'number' ? found === Number(value) : found === String(value);
}

const COMPARISONS: Readonly<
  Record<Exclude<Rule['operator'], 'regex'>, (found: Found, value: string | number) => boolean>
> = {
  equals: isEqual,
  not_equals: (found, value) => !isEqual(found, value),
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
