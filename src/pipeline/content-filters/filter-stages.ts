import type { GuardrailSource } from '../../accounts/policy/policy.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { FilterAction } from '../../canonical/guardrail-rules.ts';
import type { ModelRequest } from '../../canonical/operation.ts';
import type { PipelineStage } from '../../canonical/route-report.ts';
import type { FilterRule, Inspection } from '../../content-filters/contract.ts';
import type { RequestFacts } from '../request.ts';
import type { FilterRules } from './filter-rules.ts';

/** What was looked through. */
export type Side = 'request' | 'answer';

type Noted = Pick<RequestFacts<ModelRequest>, 'log' | 'report'>;
type Findings = Pick<Inspection, 'hits' | 'skipped' | 'unfinished'>;

const DONE = { flag: 'flagged', redact: 'redacted', block: 'blocked' } as const satisfies Record<FilterAction, string>;
const STRENGTH: Readonly<Record<FilterAction, number>> = { flag: 0, redact: 1, block: 2 };

/** Notes what filters did: a stage for each guardrail and kind of detection, and a warning that stays with the record. */
export function noteFindings({ log, report }: Noted, side: Side, filters: FilterRules, findings: Findings): void {
  for (const group of groupsOf(filters, findings)) {
    report.pipeline.push({ ...stageOf(group, side), ...placeOf(side) });
    const { guardrailId } = group.source;
    const what = `${DONE[group.action]}: ${group.names.join(', ')} (guardrail ${guardrailId})`;
    log.warn([{ code: 'filter-matched', path: side, message: what }]);
  }
  for (const index of [...findings.skipped, ...findings.unfinished]) {
    const [rule, source] = [filters.rules[index], filters.sources[index]];
    if (rule === undefined || source === undefined) continue;
    const isLost = findings.unfinished.includes(index);
    report.pipeline.push({ ...lateStage(rule, source, isLost), ...placeOf(side) });
    const message = `${isLost ? 'blocked' : 'passed'}: ${nameOf(rule)} was not searched for in time (guardrail ${source.guardrailId})`;
    log.warn([{ code: 'filter-matched', path: side, message }]);
  }
}

/** Why the caller must not go on. `undefined`: nothing says so. @spec filter-9 */
export function blockOf(side: Side, { rules }: FilterRules, { hits, unfinished }: Findings): GatewayError | undefined {
  const blocking = hits.filter(({ rule }) => rules[rule]?.action === 'block');
  // What the caller can do least about comes first.
  const injection = blocking.find(({ rule }) => isInjection(rules[rule]));
  const first = injection ?? blocking[0];
  const rule = first && rules[first.rule];
  if (first !== undefined && rule !== undefined)
    return new GatewayError('permission_denied', blockMessage(side, rule), { metadata: { patterns: first.patterns } });
  const late = unfinished.map((index) => rules[index]).find((each) => each !== undefined);
  if (late === undefined) return undefined;
  return new GatewayError(
    'permission_denied',
    `${subjectOf(side)} blocked by content filter: ${nameOf(late)}, which could not be searched for in time.`,
    { metadata: { patterns: [] } },
  );
}

function blockMessage(side: Side, rule: FilterRule): string {
  if (isInjection(rule)) return `${subjectOf(side)} blocked: prompt injection detected.`;
  if (isEntity(rule)) return `Blocked PII detected: ${bare(rule.label)}`;
  const label = rule.kind === 'pattern' && rule.name === rule.pattern ? '[BLOCKED]' : rule.label;
  return `${subjectOf(side)} blocked by content filter: ${label}`;
}

function subjectOf(side: Side): string {
  return side === 'request' ? 'Request' : 'Response';
}

/** Rules of one guardrail that one kind of stage tells of. */
interface Group {
  readonly source: GuardrailSource;
  readonly isInjection: boolean;
  action: FilterAction;
  readonly names: string[];
  readonly engines: Set<string>;
  readonly patterns: string[];
  readonly entities: string[];
}

function groupsOf({ rules, sources }: FilterRules, { hits }: Findings): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { rule: index, patterns } of hits) {
    const [rule, source] = [rules[index], sources[index]];
    if (rule === undefined || source === undefined) continue;
    const key = `${source.guardrailId} ${source.scope} ${isInjection(rule)}`;
    const group = groups.get(key) ?? openGroup(rule, source);
    groups.set(key, group);
    if (STRENGTH[rule.action] > STRENGTH[group.action]) group.action = rule.action;
    group.names.push(nameOf(rule));
    group.engines.add(engineOf(rule));
    group.patterns.push(...patterns);
    if (rule.kind === 'builtin' && !isInjection(rule)) group.entities.push(bare(rule.label));
  }
  return [...groups.values()];
}

function openGroup(rule: FilterRule, source: GuardrailSource): Group {
  return {
    source,
    isInjection: isInjection(rule),
    action: rule.action,
    names: [],
    engines: new Set(),
    patterns: [],
    entities: [],
  };
}

/** @spec metadata-10 */
function stageOf(group: Group, side: Side): PipelineStage {
  const { source, action, names, patterns, entities } = group;
  const count = patterns.length === 1 ? '1 pattern' : `${patterns.length} patterns`;
  const what = group.isInjection ? `${count} of prompt injection` : names.join(', ');
  const done = DONE[action];
  return {
    type: 'guardrail',
    name: group.isInjection ? 'regex_pi_detection' : 'content-filter',
    summary: `${done[0]?.toUpperCase()}${done.slice(1)}: ${what} in the ${side}`,
    guardrailId: source.guardrailId,
    guardrailScope: source.scope,
    data: {
      action: done,
      detected: true,
      engines: [...group.engines],
      patterns,
      ...(entities.length > 0 && { matched_entity_types: entities }),
    },
  };
}

function placeOf(side: Side): Pick<PipelineStage, 'isOfResponse'> {
  return side === 'answer' ? { isOfResponse: true } : {};
}

function lateStage(rule: FilterRule, source: GuardrailSource, isLost: boolean): PipelineStage {
  return {
    type: 'guardrail',
    name: isInjection(rule) ? 'regex_pi_detection' : 'content-filter',
    summary: `${isLost ? 'Blocked' : 'Passed'}: ${nameOf(rule)} was not searched for in time`,
    guardrailId: source.guardrailId,
    guardrailScope: source.scope,
    data: {
      action: isLost ? 'blocked' : 'passed',
      detected: false,
      engines: [engineOf(rule)],
      patterns: [],
      decision: 'timeout',
    },
  };
}

/** The name of a filter in reports. */
export function nameOf(rule: FilterRule): string {
  return rule.kind === 'pattern' ? rule.name : bare(rule.label);
}

/** `[PERSON_NAME]` is the mark of a PERSON_NAME. */
function bare(label: string): string {
  return label.replace(/^\[(.*)\]$/, '$1');
}

function isInjection(rule: FilterRule | undefined): boolean {
  return rule?.kind === 'builtin' && rule.slug === 'regex-prompt-injection';
}

function isEntity(rule: FilterRule): boolean {
  return rule.kind === 'builtin' && (rule.slug === 'person-name' || rule.slug === 'address');
}

function engineOf(rule: FilterRule): string {
  return isEntity(rule) ? 'entities' : 'regex';
}
