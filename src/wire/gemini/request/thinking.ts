import type { Effort, ReasoningSettings } from '../../../canonical/request.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { budgetOfEffort, effortOfBudget, fitBudget, nearestEffort } from '../../gateway/efforts.ts';
import type { GeminiThinking, ThinkingLevel } from '../dialect.ts';
import type { EncodeContext } from './encode-context.ts';

/** ai.google.dev "Models", read 2026-11: the longest response of every thinking model, where the catalog has none. */
const OUTPUT_TOKENS_DEFAULT = 65_536;
/** The model decides how much: ai.google.dev "Thinking", read 2026-11. */
const DYNAMIC = -1;

/** The thinking settings of a request. */
export interface ThinkingPlan {
  /** `generationConfig.thinkingConfig`. */
  readonly config?: JsonObject;
  /** `generationConfig.maxOutputTokens`: thinking counts as part of the response. */
  readonly maxTokens: number | undefined;
}

/** The same in the settings of the model; `maxTokens` only where it had to change. */
interface PlannedThinking {
  readonly config: JsonObject;
  readonly maxTokens?: number;
}

/** The requested thinking, whichever settings expressed it. */
type RequestedThinking =
  | { readonly type: 'off' | 'dynamic' | 'unsaid' }
  | { readonly type: 'effort'; readonly effort: Exclude<Effort, 'none'> }
  | { readonly type: 'tokens'; readonly tokens: number };

/**
 * @param maxTokens of the response, as requested and within the endpoint's limit
 * @spec reasoning-12
 */
export function planThinking(maxTokens: number | undefined, context: EncodeContext): ThinkingPlan {
  const { reasoning } = context.request.settings;
  if (reasoning === undefined) return { maxTokens };
  if (!context.supports('reasoning')) {
    context.warn('field-dropped', 'reasoning', 'the endpoint does not take it');
    return { maxTokens };
  }
  const { thinking } = context.facts;
  const requested = requestedThinking(reasoning, thinking);
  if (thinking === undefined) {
    if (requested.type !== 'off')
      context.warn('field-dropped', 'reasoning', 'the model has no setting that turns thinking on');
    return { maxTokens };
  }
  const planned =
    thinking.by === 'budget'
      ? planBudget(requested, thinking, maxTokens, context)
      : planLevel(requested, thinking, context);
  const shown = thinks(planned, thinking) && requested.type !== 'off' && showsThoughts(reasoning, context);
  const config = { ...planned.config, ...(shown && { includeThoughts: true }) };
  return { maxTokens: planned.maxTokens ?? maxTokens, ...(Object.keys(config).length > 0 && { config }) };
}

/**
 * Thoughts of a model that does not think are refused: "include_thoughts is only enabled when thinking is enabled",
 * lobehub/lobehub#7985 (2025-05), raphaelmansuy/edgequake-llm#28 (2026-04).
 */
function thinks({ config }: PlannedThinking, thinking: GeminiThinking): boolean {
  if (thinking.by === 'level') return true;
  const { thinkingBudget: budget } = config;
  return budget === undefined ? thinking.offByDefault !== true : budget !== 0;
}

/** Where both are given, a budget counts for models that take one, and an effort for those that take levels. */
function requestedThinking(reasoning: ReasoningSettings, thinking: GeminiThinking | undefined): RequestedThinking {
  const { effort, maxTokens, enabled, adaptive } = reasoning;
  if (enabled === false || effort === 'none' || maxTokens === 0) return { type: 'off' };
  const tokens = maxTokens === undefined ? undefined : ({ type: 'tokens', tokens: maxTokens } as const);
  if (tokens !== undefined && (effort === undefined || thinking?.by === 'budget')) return tokens;
  if (effort !== undefined) return { type: 'effort', effort };
  if (adaptive === true) return { type: 'dynamic' };
  if (enabled !== true) return { type: 'unsaid' };
  return thinking?.by === 'level' ? { type: 'effort', effort: 'medium' } : { type: 'dynamic' };
}

/** A request for thinking shows the thoughts; an effort of the messages format alone does not. */
function showsThoughts(reasoning: ReasoningSettings, { request }: EncodeContext): boolean {
  const { exclude, display, enabled, adaptive, maxTokens } = reasoning;
  if (exclude === true || display === 'omitted') return false;
  return request.format === 'chat' || enabled === true || adaptive === true || maxTokens !== undefined;
}

type BudgetThinking = Extract<GeminiThinking, { by: 'budget' }>;
type LevelThinking = Extract<GeminiThinking, { by: 'level' }>;

function planBudget(
  requested: RequestedThinking,
  thinking: BudgetThinking,
  maxTokens: number | undefined,
  context: EncodeContext,
): PlannedThinking {
  const { tokensMin, tokensMax, canBeOff } = thinking;
  switch (requested.type) {
    case 'unsaid':
      return { config: {} };
    case 'dynamic':
      return { config: { thinkingBudget: DYNAMIC } };
    case 'off':
      if (!canBeOff)
        context.warn('field-changed', 'reasoning', 'the model always thinks; the least thinking is requested');
      return { config: { thinkingBudget: canBeOff ? 0 : tokensMin } };
    case 'tokens': {
      const budget = clamp(requested.tokens, tokensMin, tokensMax);
      if (budget !== requested.tokens)
        context.warn('field-changed', 'reasoning.max_tokens', `the model takes from ${tokensMin} to ${tokensMax}`);
      return planRoom(budget, thinking, maxTokens, context);
    }
    case 'effort': {
      const response = outputTokens(maxTokens, context);
      const budget = clamp(budgetOfEffort(requested.effort, response), tokensMin, tokensMax);
      return planRoom(budget, thinking, maxTokens, context);
    }
    default:
      return unreachable(requested);
  }
}

/** Thinking that may take up the whole response leaves none, so the response gets room, or the thinking less of it. */
function planRoom(
  budget: number,
  { tokensMin, canBeOff }: BudgetThinking,
  maxTokens: number | undefined,
  context: EncodeContext,
): PlannedThinking {
  if (maxTokens === undefined || maxTokens > budget) return { config: { thinkingBudget: budget } };
  const limit = context.target.maxOutputTokens ?? OUTPUT_TOKENS_DEFAULT;
  const fitted = fitBudget(budget, tokensMin, maxTokens, limit);
  if (fitted === undefined) {
    context.warn('field-changed', 'reasoning', 'the response may not be long enough to think first');
    return { config: { thinkingBudget: canBeOff ? 0 : tokensMin } };
  }
  if (fitted.maxTokens !== maxTokens)
    context.warn('field-changed', 'max_tokens', 'raised, because thinking counts as part of the response');
  return { config: { thinkingBudget: fitted.budget }, maxTokens: fitted.maxTokens };
}

function planLevel(requested: RequestedThinking, thinking: LevelThinking, context: EncodeContext): PlannedThinking {
  switch (requested.type) {
    case 'unsaid':
    case 'dynamic':
      return { config: {} };
    case 'off': {
      const least = thinking.levels[0] ?? 'low';
      context.warn('field-changed', 'reasoning', `the model always thinks; the level is set to ${least}`);
      return { config: { thinkingLevel: least } };
    }
    case 'tokens': {
      if (thinking.takesBudget) return { config: { thinkingBudget: requested.tokens } };
      const level = nearestLevel(
        effortOfBudget(requested.tokens, outputTokens(context.request.settings.maxTokens, context)),
        thinking.levels,
      );
      context.warn('field-changed', 'reasoning.max_tokens', `the model takes levels; it gets ${level}`);
      return { config: { thinkingLevel: level } };
    }
    case 'effort':
      return { config: { thinkingLevel: nearestLevel(requested.effort, thinking.levels) } };
    default:
      return unreachable(requested);
  }
}

/** More than `high` is `high`. @spec reasoning-12 */
function nearestLevel(effort: Effort, levels: readonly ThinkingLevel[]): ThinkingLevel {
  return nearestEffort(effort, levels) ?? 'low';
}

/** How long the response may be, thinking included. */
function outputTokens(maxTokens: number | undefined, { target }: EncodeContext): number {
  return maxTokens ?? target.maxOutputTokens ?? OUTPUT_TOKENS_DEFAULT;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
