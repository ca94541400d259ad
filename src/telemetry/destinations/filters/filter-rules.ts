import { usdFromNano } from '../../../lib/money.ts';
import type { FilterRules } from '../../../resources/filter-rules.ts';
import type { ExportedGeneration } from '../contract.ts';
import type { PatternJob } from './pattern-job.ts';
import type { PatternSearch } from './pattern-search.ts';

type Rule = FilterRules['groups'][number]['rules'][number];
type Found = string | number | undefined;

/** Where one of the patterns stands, and what is wrong with it; `undefined`: all of them can be looked for. */
export async function faultOfPatterns({ groups }: FilterRules): Promise<readonly [string, string] | undefined> {
  for (const [group, { rules }] of groups.entries())
    for (const [index, { operator, value }] of rules.entries()) {
      if (operator !== 'regex') continue;
      // The parser is large, and most gateways never store a pattern.
      const { faultOfPattern } = await import('../../../lib/text/plain-pattern.ts');
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
  const valueOf = memoizeValues(generation);
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
  // A match can only add a generation: when all matches or none make no difference, no search is needed.
  if (fitsWhere(() => false)) return true;
  if (searched.size === 0 || !fitsWhere((rule) => searched.has(rule))) return false;
  return patterns.search(jobOf([...searched], valueOf)).then((found) => {
    const isFound = new Set([...searched].filter((_rule, index) => found[index]));
    return fitsWhere((rule) => isFound.has(rule));
  });
}

type ValueOf = (field: Rule['field']) => Found;

/** The content may be long, and many rules may use it. */
function memoizeValues(generation: ExportedGeneration): ValueOf {
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
  api_key_name: ({ identity }) => identity?.keyName,
  finish_reason: ({ finishReason }) => finishReason,
  input: ({ content }) => content && JSON.stringify(content.input.messages),
  output: ({ content }) => content?.output.completion ?? undefined,
  total_cost: ({ cost }) => (cost === undefined ? undefined : usdFromNano(cost.total)),
  total_tokens: ({ tokens }) => (tokens?.prompt ?? 0) + (tokens?.completion ?? 0),
  prompt_tokens: ({ tokens }) => tokens?.prompt ?? 0,
  completion_tokens: ({ tokens }) => tokens?.completion ?? 0,
};
