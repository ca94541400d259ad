import type { GuardrailSource, Policy } from '../../accounts/policy/policy.ts';
import { LABEL_OF_BUILTIN } from '../../canonical/guardrail-rules.ts';
import type { FilterRule } from '../../content-filters/contract.ts';

/** The filters of a policy, as they are looked for; what stands at one index belongs together. */
export interface FilterRules {
  readonly rules: readonly FilterRule[];
  readonly sources: readonly GuardrailSource[];
}

/** Of requests, and of answers. */
export interface PolicyFilters {
  readonly request: FilterRules;
  readonly answer: FilterRules;
}

type FilterLists = Pick<Policy, 'contentFilters' | 'builtinFilters'>;

/** What a match of a pattern without a label is replaced with. @spec filter-4 */
const LABEL = '[REDACTED]';

const known = new WeakMap<FilterLists, PolicyFilters>();

/** `undefined`: there are none. The same object for the same policy and phrases. @param allowedPhrases in lower case */
export function filtersOf(policy: FilterLists, allowedPhrases: readonly string[]): PolicyFilters | undefined {
  if (!hasFilters(policy)) return undefined;
  const made = known.get(policy) ?? makeFilters(policy, allowedPhrases);
  known.set(policy, made);
  return made;
}

export function hasFilters({ contentFilters, builtinFilters }: FilterLists): boolean {
  return contentFilters.length > 0 || builtinFilters.length > 0;
}

interface Filter {
  readonly rule: FilterRule;
  readonly scanOutput: boolean;
  readonly source: GuardrailSource;
}

function makeFilters(
  { contentFilters, builtinFilters }: FilterLists,
  allowedPhrases: readonly string[],
): PolicyFilters {
  const patterns = contentFilters.map(({ pattern, action, label, scanOutput, source }): Filter => ({
    rule: { kind: 'pattern', pattern, action, label: label ?? LABEL, name: label ?? pattern },
    scanOutput,
    source,
  }));
  const builtins = builtinFilters.map(({ slug, action, scanScope, scanOutput, source }): Filter => ({
    rule: {
      kind: 'builtin',
      slug,
      action,
      label: LABEL_OF_BUILTIN[slug],
      userOnly: scanScope === 'user_only',
      allowedPhrases: slug === 'regex-prompt-injection' ? allowedPhrases : [],
    },
    scanOutput,
    source,
  }));
  const all = [...patterns, ...builtins];
  return { request: collect(all), answer: collect(all.filter(({ scanOutput }) => scanOutput)) };
}

function collect(filters: readonly Filter[]): FilterRules {
  return { rules: filters.map(({ rule }) => rule), sources: filters.map(({ source }) => source) };
}
