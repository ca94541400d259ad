import type { FilterRule, Guardrail, Matcher } from './contract.ts';
import { GUARDRAILS } from './index.ts';

/** A rule with what looks for it. */
export interface CompiledRule {
  readonly rule: FilterRule;
  readonly matcher: Matcher;
  readonly guardrail: Guardrail;
}

const MEMBERS: readonly Guardrail[] = Object.values(GUARDRAILS);

export function compileRules(rules: readonly FilterRule[]): readonly CompiledRule[] {
  return rules.map(compile);
}

function compile(rule: FilterRule): CompiledRule {
  for (const guardrail of MEMBERS) {
    const matcher = guardrail.matcherOf(rule);
    if (matcher !== undefined) return { rule, matcher, guardrail };
  }
  throw new Error(`no guardrail looks for a rule of the kind ${rule.kind}`);
}
