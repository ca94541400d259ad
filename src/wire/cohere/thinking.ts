import type { Effort, ReasoningSettings } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EncodeContext } from './encode-context.ts';

/** generation.md 11.4: the part of the answer that each effort gives to thinking. */
const BUDGET_RATIO: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  max: 0.95,
  xhigh: 0.95,
  high: 0.8,
  medium: 0.5,
  low: 0.2,
  minimal: 0.1,
};
/** generation.md 12: reasoning budget. */
const BUDGET_TOKENS_MIN = 1_024;
const BUDGET_TOKENS_MAX = 128_000;
/** "leave at least 1K tokens for the response": docs.cohere.com "Reasoning", read 2026-11. */
const ANSWER_TOKENS = 1_024;

const DISABLED: JsonObject = { type: 'disabled' };
const ENABLED: JsonObject = { type: 'enabled' };

export interface ThinkingPlan {
  readonly thinking?: JsonObject;
  readonly maxTokens: number | undefined;
}

/**
 * Models that think do so unless they are told not to, and thinking counts as part of the answer.
 * @source generation.md 2.5, 11.4; docs.cohere.com "Reasoning", read 2026-11
 */
export function planThinking(context: EncodeContext): ThinkingPlan {
  const { request, target, warnings, supports } = context;
  const { reasoning } = request.settings;
  const maxTokens = capTokens(request.settings.maxTokens, context);
  const asked = reasoning && askedFor(reasoning);
  if (reasoning === undefined || asked === undefined) return { maxTokens };
  const thinks = target.dialect.plansIn !== 'tool_plan';
  if (!thinks || !supports('reasoning')) {
    if (asked !== 'none') warnings.add('field-dropped', 'reasoning', 'the model cannot think');
    return { maxTokens };
  }
  for (const member of ['mode', 'context'] as const) {
    if (reasoning[member] !== undefined)
      warnings.add('field-dropped', `reasoning.${member}`, 'cannot be said in this format');
  }
  if (asked === 'none') return { thinking: DISABLED, maxTokens };
  if (asked === 'unlimited') return { thinking: ENABLED, maxTokens };
  return planBudget(asked, reasoning.maxTokens, maxTokens, context);
}

/** `undefined` when nothing is said. */
function askedFor(reasoning: ReasoningSettings): Effort | 'unlimited' | undefined {
  const { effort, enabled, maxTokens, adaptive } = reasoning;
  if (enabled === false || effort === 'none' || maxTokens === 0) return 'none';
  if (effort !== undefined) return effort;
  if (adaptive === true) return 'unlimited';
  return enabled === true || maxTokens !== undefined ? 'medium' : undefined;
}

function planBudget(
  effort: Exclude<Effort, 'none'>,
  explicit: number | undefined,
  maxTokens: number | undefined,
  { target, warnings }: EncodeContext,
): ThinkingPlan {
  const limit = target.maxOutputTokens;
  const room = maxTokens ?? limit;
  const share = room === undefined ? undefined : Math.floor(Math.min(room * BUDGET_RATIO[effort], BUDGET_TOKENS_MAX));
  const wanted = explicit ?? (share === undefined ? undefined : Math.max(share, BUDGET_TOKENS_MIN));
  if (wanted === undefined) {
    warnings.add('field-changed', 'reasoning', 'without a limit on the answer the model thinks as much as it wants to');
    return { thinking: ENABLED, maxTokens };
  }
  const least = explicit === undefined ? BUDGET_TOKENS_MIN : 1;
  const fitted = fitBudget(wanted, least, maxTokens, limit);
  if (fitted === undefined) {
    warnings.add('field-dropped', 'reasoning', 'the answer may not be long enough to think first');
    return { thinking: DISABLED, maxTokens };
  }
  if (fitted.maxTokens !== maxTokens)
    warnings.add('field-changed', 'max_tokens', 'raised, because thinking counts as part of the answer');
  if (explicit !== undefined && fitted.budget !== explicit)
    warnings.add('field-changed', 'reasoning.max_tokens', 'lowered, so that there is room for the answer');
  return { thinking: { type: 'enabled', token_budget: fitted.budget }, maxTokens: fitted.maxTokens };
}

/** `undefined`: there is no room for the smallest budget. */
function fitBudget(
  budget: number,
  least: number,
  maxTokens: number | undefined,
  limit: number | undefined,
): { readonly budget: number; readonly maxTokens: number | undefined } | undefined {
  const ceiling = Math.max(limit ?? Number.MAX_SAFE_INTEGER, maxTokens ?? 0);
  if (maxTokens !== undefined && maxTokens > budget) return { budget, maxTokens };
  const raised = Math.min(budget + ANSWER_TOKENS, ceiling);
  const lowered = Math.min(budget, raised - ANSWER_TOKENS);
  if (lowered < least) return undefined;
  return { budget: lowered, maxTokens: maxTokens === undefined ? undefined : raised };
}

function capTokens(asked: number | undefined, { target, warnings }: EncodeContext): number | undefined {
  const limit = target.maxOutputTokens;
  if (asked === undefined || limit === undefined || asked <= limit) return asked;
  warnings.add('field-changed', 'max_tokens', `lowered to what the endpoint can answer, ${limit}`);
  return limit;
}
