import { mergeRules, type GuardrailSource } from '../../accounts/policy/policy.ts';
import type { FilterAction, GuardrailRules } from '../../canonical/guardrail-rules.ts';
import type { FilterRule } from '../../content-filters/contract.ts';
import { filtersOf, type FilterRules } from './filter-rules.ts';
import { nameOf } from './filter-stages.ts';
import type { ContentFilterDeps } from './content-filters.ts';
import { OPEN_MATCH_CHARS_MAX } from './filter-response.ts';

/** A text to try the filters of a guardrail on. */
export interface FilterTrial {
  readonly text: string;
  /** Whether it stands in a request or in an answer. */
  readonly side: 'request' | 'answer';
  /** A user wrote it. */
  readonly byUser: boolean;
}

export interface TrialFinding {
  readonly filter: string;
  readonly action: FilterAction;
  readonly patterns: readonly string[];
}

export interface TrialResult {
  /** What would become of a request or an answer that says it. */
  readonly outcome: 'passed' | 'flagged' | 'redacted' | 'blocked';
  /** The text as it would go on; null: it would not. */
  readonly text: string | null;
  readonly findings: readonly TrialFinding[];
  /** Filters that were not searched for in time. */
  readonly late: readonly string[];
  /** What an operator should know of the filters, whatever the text is. */
  readonly warnings: readonly string[];
}

/** Runs the filters of one guardrail, and asks and changes nothing. @throws GatewayError 503 while too many texts wait */
export type TryFilters = (rules: GuardrailRules, trial: FilterTrial) => Promise<TrialResult>;

const SOURCE: GuardrailSource = { guardrailId: '', name: '', scope: 'account' };

export function createFilterTrials({ inspector, allowedPhrases }: ContentFilterDeps): TryFilters {
  return async (rules, { text, side, byUser }) => {
    const both = filtersOf(mergeRules([{ source: SOURCE, rules }]), allowedPhrases);
    const warnings = both === undefined ? [] : await warningsOf(inspector, both.answer);
    const filters = both?.[side];
    if (filters === undefined || filters.rules.length === 0)
      return { outcome: 'passed', text, findings: [], late: [], warnings };
    const { signal } = new AbortController();
    const found = await inspector.inspect([{ text, form: 'plain', byUser }], filters.rules, signal);
    const findings = found.hits.flatMap(({ rule, patterns }) => findingOf(filters.rules[rule], patterns));
    const outcome = outcomeOf(findings, found.unfinished.length > 0);
    return {
      outcome,
      text: outcome === 'blocked' ? null : (found.redacted.get(0)?.text ?? text),
      findings,
      late: namesOf(filters, [...found.unfinished, ...found.skipped]),
      warnings,
    };
  };
}

async function warningsOf(inspector: ContentFilterDeps['inspector'], filters: FilterRules): Promise<readonly string[]> {
  const { chars, longRules } = await inspector.windowOf(filters.rules);
  return namesOf(filters, longRules).map(
    (name) =>
      `${name}: matches may be longer than ${chars} characters, so streamed responses are held back as long as a match may go on, ` +
      `and refused beyond ${OPEN_MATCH_CHARS_MAX} characters. A pattern with upper bounds, such as \\d{1,20}, holds back less.`,
  );
}

function findingOf(rule: FilterRule | undefined, patterns: readonly string[]): readonly TrialFinding[] {
  return rule === undefined ? [] : [{ filter: nameOf(rule), action: rule.action, patterns }];
}

function outcomeOf(findings: readonly TrialFinding[], isUnfinished: boolean): TrialResult['outcome'] {
  const does = (action: FilterAction): boolean => findings.some((finding) => finding.action === action);
  if (isUnfinished || does('block')) return 'blocked';
  return does('redact') ? 'redacted' : does('flag') ? 'flagged' : 'passed';
}

function namesOf({ rules }: FilterRules, indexes: readonly number[]): readonly string[] {
  return indexes.flatMap((index) => (rules[index] === undefined ? [] : [nameOf(rules[index])]));
}
