import type { Effort, GenerationRequest, ReasoningSettings, Settings } from '../../../canonical/request.ts';
import type { Dialect, LimitTarget } from '../../format.ts';
import { BUDGET_TOKENS_MIN, budgetOfEffort, effortOf, fitBudget, raisedLimit } from '../../gateway/efforts.ts';
import type { Warnings } from '../../gateway/warnings.ts';
import type { WireObject } from '../../json-fields.ts';
import { addExtra } from '../extra.ts';

/** The thinking settings of a request, in this format's members. */
export interface ThinkingPlan {
  readonly thinking?: WireObject;
  /** `output_config.effort`. */
  readonly effort?: string;
  readonly maxTokens: number;
  /** The model thinks: sampling is restricted. */
  readonly active: boolean;
}

export interface ThinkingOptions {
  readonly settings: Settings;
  readonly dialect: Dialect;
  /** `max_tokens` as requested or by default. */
  readonly maxTokens: number;
  /** The most that the endpoint can answer, where known. */
  readonly maxTokensLimit: number | undefined;
  /** The model has to call a tool. Default: as the settings have it. */
  readonly forced?: boolean;
  readonly warnings: Warnings;
}

/**
 * Settings of a caller of this format are sent as they stand, even where the model will refuse them: they are not
 * changed behind its back (@spec messages-24). Only a model that cannot think at all gets nothing.
 */
export function encodeOwnThinking(options: ThinkingOptions): ThinkingPlan {
  const { settings, dialect, maxTokens, warnings } = options;
  const { reasoning } = settings;
  const thinking = encodeAsGiven(reasoning) ?? silenceDefault(options);
  const effort = encodeOwnEffort(options, thinking);
  if (thinking !== undefined && dialect.thinking === 'none') {
    warnings.add('field-dropped', 'thinking', 'the model cannot think');
    return { ...effort, maxTokens, active: false };
  }
  const active = thinking !== undefined && thinking['type'] !== 'disabled';
  return { ...(thinking !== undefined && { thinking }), ...effort, maxTokens, active };
}

/** Switches thinking off for hosts that think by default, and refuse a forced call meanwhile. */
function silenceDefault(options: ThinkingOptions): WireObject | undefined {
  const { unforcedReasoning, mustReason } = options.dialect;
  return unforcedReasoning === true && mustReason !== true && isForced(options) ? { type: 'disabled' } : undefined;
}

function encodeOwnEffort(
  { settings: { reasoning }, dialect, warnings }: ThinkingOptions,
  thinking: WireObject | undefined,
): Pick<ThinkingPlan, 'effort'> {
  if (reasoning?.effort === undefined) return {};
  if (dialect.effortNeedsThinking !== true || thinking?.['type'] !== 'disabled') return { effort: reasoning.effort };
  warnings.add('field-dropped', 'output_config.effort', 'the provider takes no effort where thinking is off');
  return {};
}

function encodeAsGiven(reasoning: ReasoningSettings | undefined): WireObject | undefined {
  if (reasoning === undefined) return undefined;
  const { adaptive, enabled, maxTokens, display, extra } = reasoning;
  const thinking: WireObject = {};
  if (adaptive === true) thinking['type'] = 'adaptive';
  else if (enabled === false) thinking['type'] = 'disabled';
  else if (maxTokens !== undefined) Object.assign(thinking, { type: 'enabled', budget_tokens: maxTokens });
  if (display !== undefined) thinking['display'] = display;
  addExtra(thinking, extra);
  return thinking['type'] === undefined ? undefined : thinking;
}

/** A caller of this format has to choose budget and limit so that they go together. */
export function responseLimit({ format, settings }: GenerationRequest, target: LimitTarget): number | undefined {
  return format === 'messages' ? settings.maxTokens : foreignLimit(settings, target);
}

/** As `encodeForeignThinking`: only a budget makes a limit longer. */
export function foreignLimit(settings: Settings, { dialect, maxOutputTokens }: LimitTarget): number | undefined {
  const { maxTokens, reasoning } = settings;
  if (dialect.thinking === 'none' || dialect.thinking === 'adaptive-only') return maxTokens;
  const budgetOnly = reasoning?.maxTokens !== undefined && reasoning.effort === undefined;
  return dialect.thinking === 'adaptive' && !budgetOnly ? maxTokens : raisedLimit(settings, maxOutputTokens);
}

/** The reasoning settings of another format, in the form that the model knows. @spec reasoning-8 */
export function encodeForeignThinking(options: ThinkingOptions): ThinkingPlan {
  const { settings, dialect, maxTokens, warnings } = options;
  const forced = isForced(options);
  const reasoning = settings.reasoning ?? {};
  // A budget goes as it is here, so its share of the response does not matter.
  const requested = effortOf(reasoning, undefined);
  const effortful = dialect.thinking === 'adaptive' || dialect.thinking === 'adaptive-only';
  if (settings.verbosity !== undefined && !effortful)
    warnings.add('field-dropped', 'verbosity', 'the model knows no effort');
  if (dialect.thinking === 'none') {
    if (requested !== undefined && requested !== 'none')
      warnings.add('field-dropped', 'reasoning', 'the model cannot think');
    return { maxTokens, active: false };
  }
  if (requested !== undefined && requested !== 'none' && forced)
    warnings.add('field-dropped', 'reasoning', 'the model cannot think when it is forced to call a tool');
  const preferred = forced && requested !== undefined ? 'none' : requested;
  return effortful ? planEffort(options, preferred) : planBudget(options, preferred);
}

function isForced({ forced, settings: { toolChoice } }: ThinkingOptions): boolean {
  return forced ?? (toolChoice?.type === 'required' || toolChoice?.type === 'function');
}

function planEffort(options: ThinkingOptions, preferred: Effort | undefined): ThinkingPlan {
  const { settings, dialect, maxTokens, warnings } = options;
  const reasoning = settings.reasoning ?? {};
  const verbosity = settings.verbosity === undefined ? {} : { effort: knownEffort(settings.verbosity, dialect) };
  if (preferred === undefined) return { ...verbosity, maxTokens, active: false };
  if (preferred === 'none') {
    // Newer models think by default; off together with more than `high` is refused.
    const effort = verbosity.effort === undefined || isBeyondHigh(verbosity.effort) ? {} : verbosity;
    return { thinking: { type: 'disabled' }, ...effort, maxTokens, active: false };
  }
  const budgetOnly = reasoning.maxTokens !== undefined && reasoning.effort === undefined;
  if (budgetOnly && dialect.thinking === 'adaptive' && !isForced(options)) return planBudget(options, preferred);
  if (reasoning.maxTokens !== undefined)
    warnings.add('field-dropped', 'reasoning.max_tokens', 'the model decides itself how much to think');
  const effort = budgetOnly ? {} : { effort: knownEffort(preferred, dialect) };
  return {
    thinking: { type: 'adaptive', display: displayOf(reasoning) },
    ...effort,
    ...verbosity,
    maxTokens,
    active: true,
  };
}

/** Newer models show their thinking only on request. @spec reasoning-10 */
function displayOf({ display, exclude }: ReasoningSettings): string {
  return display ?? (exclude === true ? 'omitted' : 'summarized');
}

function planBudget(options: ThinkingOptions, preferred: Effort | undefined): ThinkingPlan {
  const { settings, dialect, maxTokens, maxTokensLimit, warnings } = options;
  if (preferred === undefined) return { maxTokens, active: false };
  if (preferred === 'none') {
    // Budget models think only on request; for an unknown model the off switch is the one thing that is sure.
    return { ...(dialect.thinking === undefined && { thinking: { type: 'disabled' } }), maxTokens, active: false };
  }
  const explicit = settings.reasoning?.maxTokens;
  const budget = explicit === undefined ? budgetOfEffort(preferred, maxTokens) : Math.max(explicit, BUDGET_TOKENS_MIN);
  const fitted = fitBudget(budget, BUDGET_TOKENS_MIN, maxTokens, maxTokensLimit);
  if (fitted === undefined) {
    warnings.add('field-dropped', 'reasoning', 'the response may not be long enough to think first');
    return { maxTokens, active: false };
  }
  if (fitted.maxTokens !== maxTokens)
    warnings.add('field-changed', 'max_tokens', 'raised, because thinking counts as part of the response');
  return { thinking: { type: 'enabled', budget_tokens: fitted.budget }, maxTokens: fitted.maxTokens, active: true };
}

/** @spec reasoning-9 */
function knownEffort(effort: Effort, { efforts }: Dialect): string {
  if (effort === 'minimal') return 'low';
  return isBeyondHigh(effort) && efforts?.includes(effort) !== true ? 'high' : effort;
}

function isBeyondHigh(effort: string): boolean {
  return effort === 'xhigh' || effort === 'max';
}
