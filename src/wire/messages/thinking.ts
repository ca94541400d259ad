import type { Effort, ReasoningSettings, Settings } from '../../canonical/request.ts';
import type { Dialect } from '../format.ts';
import type { Warnings } from '../gateway/warnings.ts';
import { addExtra } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

/** generation.md 11.4: the part of the answer that each effort gives to thinking. */
const BUDGET_RATIO: Readonly<Record<Effort, number>> = {
  max: 0.95,
  xhigh: 0.95,
  high: 0.8,
  medium: 0.5,
  low: 0.2,
  minimal: 0.1,
  none: 0,
};
/** generation.md 12: reasoning budget. */
const BUDGET_TOKENS_MIN = 1_024;
const BUDGET_TOKENS_MAX = 128_000;
/** generation.md 11.4: what is left for the answer when the budget is not below the maximum. */
const ANSWER_TOKENS = 1_024;

/** How a request says that the model should think, in this wire's members. */
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
  /** `max_tokens` as asked or by default. */
  readonly maxTokens: number;
  /** The most that the endpoint can answer, where known. */
  readonly maxTokensLimit: number | undefined;
  /** The model has to call a tool. Default: what the settings say. */
  readonly forced?: boolean;
  readonly warnings: Warnings;
}

/**
 * What a caller of this format said goes on as it stands, even where the model will refuse it: its own words are not
 * changed behind its back (generation.md 7.5). Only a model that cannot think at all gets nothing.
 */
export function drawOwnThinking({ settings, dialect, maxTokens, warnings }: ThinkingOptions): ThinkingPlan {
  const { reasoning } = settings;
  const effort = reasoning?.effort === undefined ? {} : { effort: reasoning.effort };
  const thinking = drawAsGiven(reasoning);
  if (thinking !== undefined && dialect.thinking === 'none') {
    warnings.add('field-dropped', 'thinking', 'the model cannot think');
    return { ...effort, maxTokens, active: false };
  }
  const active = thinking !== undefined && thinking['type'] !== 'disabled';
  return { ...(thinking !== undefined && { thinking }), ...effort, maxTokens, active };
}

function drawAsGiven(reasoning: ReasoningSettings | undefined): WireObject | undefined {
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

/** What another format asked for, in the form that the model knows. @source generation.md 2.5, 11.4 */
export function drawForeignThinking(options: ThinkingOptions): ThinkingPlan {
  const { settings, dialect, maxTokens, warnings } = options;
  const forced = isForced(options);
  const reasoning = settings.reasoning ?? {};
  const asked = askedEffort(reasoning);
  const effortful = dialect.thinking === 'adaptive' || dialect.thinking === 'adaptive-only';
  if (settings.verbosity !== undefined && !effortful)
    warnings.add('field-dropped', 'verbosity', 'the model knows no effort');
  if (dialect.thinking === 'none') {
    if (asked !== undefined && asked !== 'none') warnings.add('field-dropped', 'reasoning', 'the model cannot think');
    return { maxTokens, active: false };
  }
  if (asked !== undefined && asked !== 'none' && forced)
    warnings.add('field-dropped', 'reasoning', 'the model cannot think when it is forced to call a tool');
  const wished = forced && asked !== undefined ? 'none' : asked;
  return effortful ? planEffort(options, wished) : planBudget(options, wished);
}

function isForced({ forced, settings: { toolChoice } }: ThinkingOptions): boolean {
  return forced ?? (toolChoice?.type === 'required' || toolChoice?.type === 'function');
}

/** `none` when thinking is turned off, `undefined` when nothing is said. */
function askedEffort({ effort, enabled, maxTokens, adaptive }: ReasoningSettings): Effort | undefined {
  if (enabled === false || effort === 'none' || maxTokens === 0) return 'none';
  if (effort !== undefined) return effort;
  return enabled === true || adaptive === true || maxTokens !== undefined ? 'medium' : undefined;
}

function planEffort(options: ThinkingOptions, wished: Effort | undefined): ThinkingPlan {
  const { settings, dialect, maxTokens, warnings } = options;
  const reasoning = settings.reasoning ?? {};
  const verbosity = settings.verbosity === undefined ? {} : { effort: knownEffort(settings.verbosity, dialect) };
  if (wished === undefined) return { ...verbosity, maxTokens, active: false };
  if (wished === 'none') {
    // Newer models think unless they are told not to; off together with more than `high` is refused.
    const effort = verbosity.effort === undefined || isBeyondHigh(verbosity.effort) ? {} : verbosity;
    return { thinking: { type: 'disabled' }, ...effort, maxTokens, active: false };
  }
  const budgetOnly = reasoning.maxTokens !== undefined && reasoning.effort === undefined;
  if (budgetOnly && dialect.thinking === 'adaptive' && !isForced(options)) return planBudget(options, wished);
  if (reasoning.maxTokens !== undefined)
    warnings.add('field-dropped', 'reasoning.max_tokens', 'the model decides itself how much to think');
  const effort = budgetOnly ? {} : { effort: knownEffort(wished, dialect) };
  return {
    thinking: { type: 'adaptive', display: displayOf(reasoning) },
    ...effort,
    ...verbosity,
    maxTokens,
    active: true,
  };
}

/** Newer models show nothing of their thinking unless asked to. @source generation.md 11.4 "A display" */
function displayOf({ display, exclude }: ReasoningSettings): string {
  return display ?? (exclude === true ? 'omitted' : 'summarized');
}

function planBudget(options: ThinkingOptions, wished: Effort | undefined): ThinkingPlan {
  const { settings, dialect, maxTokens, maxTokensLimit, warnings } = options;
  if (wished === undefined) return { maxTokens, active: false };
  if (wished === 'none') {
    // Budget models think only when told to; of an unknown model the off switch is the one thing that is sure.
    return { ...(dialect.thinking === undefined && { thinking: { type: 'disabled' } }), maxTokens, active: false };
  }
  const explicit = settings.reasoning?.maxTokens;
  const share = Math.floor(Math.min(maxTokens * BUDGET_RATIO[wished], BUDGET_TOKENS_MAX));
  const fitted = fitBudget(Math.max(explicit ?? share, BUDGET_TOKENS_MIN), maxTokens, maxTokensLimit);
  if (fitted === undefined) {
    warnings.add('field-dropped', 'reasoning', 'the answer may not be long enough to think first');
    return { maxTokens, active: false };
  }
  if (fitted.maxTokens !== maxTokens)
    warnings.add('field-changed', 'max_tokens', 'raised, because thinking counts as part of the answer');
  return { thinking: { type: 'enabled', budget_tokens: fitted.budget }, maxTokens: fitted.maxTokens, active: true };
}

/** `max_tokens` must be greater than the budget. `undefined`: there is no room for the smallest budget. */
function fitBudget(
  budget: number,
  maxTokens: number,
  limit: number | undefined,
): { readonly budget: number; readonly maxTokens: number } | undefined {
  if (maxTokens > budget) return { budget, maxTokens };
  const raised = Math.min(budget + ANSWER_TOKENS, Math.max(limit ?? Number.MAX_SAFE_INTEGER, maxTokens));
  const lowered = Math.min(budget, raised - ANSWER_TOKENS);
  return lowered < BUDGET_TOKENS_MIN ? undefined : { budget: lowered, maxTokens: raised };
}

/** @source generation.md 11.4 "A effort values" */
function knownEffort(effort: Effort, { efforts }: Dialect): string {
  if (effort === 'minimal') return 'low';
  return isBeyondHigh(effort) && efforts?.includes(effort) !== true ? 'high' : effort;
}

function isBeyondHigh(effort: string): boolean {
  return effort === 'xhigh' || effort === 'max';
}
