import type { DefaultPlugin, DefaultPreferences } from '../../canonical/directives.ts';
import {
  mapGroups,
  type BuiltinFilter,
  type ContentFilter,
  type FilterAction,
  type GuardrailRules,
  type JudgeFilter,
  type ZeroRetention,
} from '../../canonical/guardrail-rules.ts';
import { intersectProviders } from '../../canonical/provider-names.ts';
import type { WorkspaceRow } from '../../resources/workspaces.ts';
import type { GuardrailRow } from '../../resources/guardrails.ts';
import type { PolicySubject, StoredLayers } from '../../store/accounts/policy-layers.ts';
import type { BudgetInterval } from '../../resources/workspace-parts.ts';
import { spendLimitOf, type SpendLimit } from '../limits/spend-limit.ts';
import { sortBudgets } from '../workspaces/workspace-budgets.ts';

/** The scope of a guardrail, as metadata names it. @spec metadata-11 */
export type GuardrailScope = 'account' | 'workspace' | 'member' | 'api-key';

/** The guardrail that a rule comes from. */
export interface GuardrailSource {
  readonly guardrailId: string;
  readonly name: string;
  readonly scope: GuardrailScope;
}

/** The rules of one layer. The account's layer is the outermost. */
export interface PolicyLayer {
  readonly source: GuardrailSource;
  readonly rules: GuardrailRules;
}

export interface PolicyContentFilter extends ContentFilter {
  readonly source: GuardrailSource;
}

export interface PolicyBuiltinFilter extends BuiltinFilter {
  readonly source: GuardrailSource;
}

export interface PolicyJudgeFilter extends JudgeFilter {
  readonly source: GuardrailSource;
}

/** What all layers together allow: the strictest rule of any layer applies. @spec guardrail-9 */
export interface MergedRules {
  /** Null: all but the ignored ones. Empty: none. */
  readonly allowedProviders: readonly string[] | null;
  readonly ignoredProviders: readonly string[];
  /** Permanent names where the catalog has one. Null: all but the ignored ones. Empty: none. */
  readonly allowedModels: readonly string[] | null;
  readonly ignoredModels: readonly string[];
  readonly zeroRetention: ZeroRetention;
  readonly paidTraining: boolean;
  readonly freeTraining: boolean;
  readonly freePublication: boolean;
  readonly contentFilters: readonly PolicyContentFilter[];
  readonly builtinFilters: readonly PolicyBuiltinFilter[];
  readonly judgeFilters: readonly PolicyJudgeFilter[];
}

/** All rules for the requests of one key. */
export interface Policy extends MergedRules {
  /**
   * Limits beside the key's own: the workspace's, the broadest first, then those of guardrails, in the order of the
   * checks. @spec money-27
   */
  readonly limits: readonly SpendLimit[];
  /** The key's preferences, then its workspace's: the caller's come before both. */
  readonly preferences: readonly DefaultPreferences[];
  /** The key's plugins, then its workspace's. */
  readonly plugins: readonly (readonly DefaultPlugin[])[];
  /** The model for requests that name none. */
  readonly defaultModel: string | null;
}

/** Merges the rules of all layers. The order of layers does not matter for what is allowed. Pure. */
export function mergeRules(layers: readonly PolicyLayer[]): MergedRules {
  const rules = layers.map((layer) => layer.rules);
  return {
    allowedProviders: rules.map((each) => each.allowedProviders).reduce(intersectWith(intersectProviders), null),
    ignoredProviders: unite(rules.map((each) => each.ignoredProviders)),
    allowedModels: rules.map((each) => each.allowedModels).reduce(intersectWith(intersectExactly), null),
    ignoredModels: unite(rules.map((each) => each.ignoredModels)),
    zeroRetention: rules.map((each) => each.zeroRetention).reduce(demandEither, NO_DEMANDS),
    paidTraining: rules.every((each) => each.paidTraining !== false),
    freeTraining: rules.every((each) => each.freeTraining !== false),
    freePublication: rules.every((each) => each.freePublication !== false),
    contentFilters: strongestOf(
      layers,
      ({ contentFilters }) => contentFilters,
      (filter) => filter.pattern,
    ),
    builtinFilters: strongestOf(
      layers,
      ({ builtinFilters }) => builtinFilters,
      (filter) => filter.slug,
    ),
    judgeFilters: layers.flatMap(({ source, rules: { judgeFilters } }) =>
      (judgeFilters ?? []).map((filter) => ({ ...filter, source })),
    ),
  };
}

/** Builds the policy of one key from stored rules. Pure. */
export function policyFrom(subject: PolicySubject, stored: StoredLayers): Policy {
  const { workspace, workspaceGuardrail, memberGuardrail, keyGuardrail, keyPreferences, keyPlugins, root } = stored;
  const layers = [
    layerOf('workspace', workspaceGuardrail),
    layerOf('member', memberGuardrail),
    layerOf('api-key', root?.guardrail),
    layerOf('api-key', keyGuardrail),
  ].flat();
  const key = `key:${subject.keyHash}`;
  // A key and the keys that it issued share each per-key limit.
  const rootKey = `key:${root?.keyHash ?? subject.keyHash}`;
  const member = subject.memberId === null ? [] : [`member:${subject.memberId}`];
  return {
    ...mergeRules(layers),
    limits: [
      ...limitsOfRoot(root),
      ...workspaceLimits(stored),
      // A workspace's guardrail limits each key and each member, not all of them together. OpenRouter docs, TypeScript
      // SDK, "KeyBudgetScope", read 2026-11: workspace_default_key, workspace_default_member.
      ...limitsOf(workspaceGuardrail, [rootKey, ...member]),
      ...limitsOf(memberGuardrail, member),
      ...limitsOf(root?.guardrail, [rootKey]),
      ...limitsOf(keyGuardrail, [key]),
    ],
    preferences: [keyPreferences, workspace && preferencesOf(workspace)].flatMap((each) => each ?? []),
    plugins: [keyPlugins, workspace?.defaultPlugins ?? null].flatMap((each) => (each === null ? [] : [each])),
    defaultModel: workspace?.defaultTextModel ?? null,
  };
}

function layerOf(scope: GuardrailScope, guardrail: GuardrailRow | undefined): readonly PolicyLayer[] {
  if (guardrail === undefined) return [];
  return [{ source: { guardrailId: guardrail.id, name: guardrail.name, scope }, rules: guardrail.rules }];
}

const RESET_OF = { lifetime: null, monthly: 'monthly', weekly: 'weekly', daily: 'daily' } as const satisfies Record<
  BudgetInterval,
  SpendLimit['reset']
>;

function workspaceLimits({ workspace, budgets }: StoredLayers): readonly SpendLimit[] {
  if (workspace === undefined) return [];
  return sortBudgets(budgets).map(({ interval, limitNanoUsd }) => ({
    subject: `workspace:${workspace.id}`,
    kind: 'workspace',
    limitNanoUsd,
    reset: RESET_OF[interval],
    includesByok: workspace.includeByokInBudgets,
  }));
}

function limitsOf(guardrail: GuardrailRow | undefined, subjects: readonly string[]): readonly SpendLimit[] {
  if (guardrail === undefined || guardrail.limitNanoUsd === null) return [];
  const { limitNanoUsd, resetInterval: reset, includeByokInBudgets: includesByok } = guardrail;
  return subjects.map((subject) => ({ subject, kind: 'guardrail', limitNanoUsd, reset, includesByok }));
}

function limitsOfRoot(root: StoredLayers['root']): readonly SpendLimit[] {
  if (root === undefined || root.limitNanoUsd === null) return [];
  return [spendLimitOf('issuer', root.keyHash, root.limitNanoUsd, root)];
}

function preferencesOf({
  defaultProviderPreferences: defaults,
  defaultProviderSort,
}: WorkspaceRow): DefaultPreferences | null {
  if (defaultProviderSort === null || defaults?.sort !== undefined) return defaults;
  // An order of the workspace is more specific than its sort.
  if (defaults?.order !== undefined) return defaults;
  return { ...defaults, sort: { by: defaultProviderSort } };
}

type Names = readonly string[];

/** Intersects two lists of names; null allows all. */
function intersectWith(intersect: (some: Names, others: Names) => Names) {
  return (some: Names | null, others: Names | null): Names | null =>
    some === null ? others : others === null ? some : intersect(some, others);
}

function intersectExactly(some: Names, others: Names): Names {
  const allowed = new Set(others);
  return some.filter((name) => allowed.has(name));
}

function unite(lists: readonly (Names | null)[]): Names {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

const NO_DEMANDS: ZeroRetention = { anthropic: false, openai: false, google: false, xai: false, other: false };

function demandEither(some: ZeroRetention, others: ZeroRetention<boolean | null>): ZeroRetention {
  const demanded = mapGroups(others, (value) => value === true);
  return {
    anthropic: some.anthropic || demanded.anthropic,
    openai: some.openai || demanded.openai,
    google: some.google || demanded.google,
    xai: some.xai || demanded.xai,
    other: some.other || demanded.other,
  };
}

const STRENGTH: Readonly<Record<FilterAction, number>> = { flag: 0, redact: 1, block: 2 };

interface MergeableFilter {
  readonly action: FilterAction;
  readonly scanOutput: boolean;
  readonly scanScope?: BuiltinFilter['scanScope'];
}

/**
 * Merges filters: each appears once, with the strongest action of any layer, and looks at all that any layer has it
 * look at.
 */
function strongestOf<Filter extends MergeableFilter>(
  layers: readonly PolicyLayer[],
  filtersOf: (rules: GuardrailRules) => readonly Filter[] | null,
  identityOf: (filter: Filter) => string,
): readonly (Filter & { readonly source: GuardrailSource })[] {
  const merged = new Map<string, Filter & { readonly source: GuardrailSource }>();
  for (const { source, rules } of layers)
    for (const filter of filtersOf(rules) ?? []) {
      const identity = identityOf(filter);
      const known = merged.get(identity);
      const stronger =
        known !== undefined && STRENGTH[known.action] >= STRENGTH[filter.action] ? known : { ...filter, source };
      merged.set(identity, known === undefined ? stronger : { ...stronger, ...widest(known, filter) });
    }
  return [...merged.values()];
}

function widest(one: MergeableFilter, other: MergeableFilter) {
  return {
    scanOutput: one.scanOutput || other.scanOutput,
    ...(one.scanScope !== undefined && {
      scanScope: one.scanScope === 'all_messages' || other.scanScope === 'all_messages' ? 'all_messages' : 'user_only',
    }),
  } as const;
}
