import type { FilterRule, ContentFilter, Matcher } from './contract.ts';
import { CONTENT_FILTERS } from './index.ts';

/** A rule with what looks for it. */
export interface CompiledRule {
  readonly rule: FilterRule;
  readonly matcher: Matcher;
  readonly filter: ContentFilter;
}

const MEMBERS: readonly ContentFilter[] = Object.values(CONTENT_FILTERS);

export function compileRules(rules: readonly FilterRule[]): readonly CompiledRule[] {
  return rules.map(compile);
}

function compile(rule: FilterRule): CompiledRule {
  for (const filter of MEMBERS) {
    const matcher = filter.matcherOf(rule);
    if (matcher !== undefined) return { rule, matcher, filter };
  }
  throw new Error(`no content filter looks for a rule of the kind ${rule.kind}`);
}
