import type { Effort, ReasoningSettings } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { BUDGET_TOKENS_MIN, budgetOfEffort, capTokens, effortOf, fitBudget } from '../../gateway/efforts.ts';
import type { EncodeContext } from './encode-context.ts';

const DISABLED: JsonObject = { type: 'disabled' };
const ENABLED: JsonObject = { type: 'enabled' };

export interface ThinkingPlan {
  readonly thinking?: JsonObject;
  readonly maxTokens: number | undefined;
}

/**
 * Models that can think do so by default, and thinking counts as part of the response.
 * @spec reasoning-5; docs.cohere.com "Reasoning", read 2026-11
 */
export function planThinking(context: EncodeContext): ThinkingPlan {
  const { request, target, warnings, supports } = context;
  const { reasoning } = request.settings;
  const maxTokens = capTokens(request.settings.maxTokens, target.maxOutputTokens, warnings);
  const requested = reasoning && requestedFor(reasoning);
  if (reasoning === undefined || requested === undefined) return { maxTokens };
  const thinks = target.dialect.plansIn !== 'tool_plan';
  if (!thinks || !supports('reasoning')) {
    if (requested !== 'none') warnings.add('field-dropped', 'reasoning', 'the model cannot think');
    return { maxTokens };
  }
  for (const member of ['mode', 'context'] as const) {
    if (reasoning[member] !== undefined)
      warnings.add('field-dropped', `reasoning.${member}`, 'is not supported in this format');
  }
  if (requested === 'none') return { thinking: DISABLED, maxTokens };
  if (requested === 'unlimited') return { thinking: ENABLED, maxTokens };
  return planBudget(requested, reasoning.maxTokens, maxTokens, context);
}

/** `undefined` when the request has no such setting. */
function requestedFor(reasoning: ReasoningSettings): Effort | 'unlimited' | undefined {
  const requested = effortOf(reasoning, undefined);
  return requested !== 'none' && reasoning.effort === undefined && reasoning.adaptive === true
    ? 'unlimited'
    : requested;
}

function planBudget(
  effort: Exclude<Effort, 'none'>,
  explicit: number | undefined,
  maxTokens: number | undefined,
  { target, warnings }: EncodeContext,
): ThinkingPlan {
  const limit = target.maxOutputTokens;
  const room = maxTokens ?? limit;
  const wanted = explicit ?? (room === undefined ? undefined : budgetOfEffort(effort, room));
  if (wanted === undefined) {
    warnings.add(
      'field-changed',
      'reasoning',
      'without a limit on the response the model thinks as much as it wants to',
    );
    return { thinking: ENABLED, maxTokens };
  }
  const least = explicit === undefined ? BUDGET_TOKENS_MIN : 1;
  // "leave at least 1K tokens for the response": docs.cohere.com "Reasoning", read 2026-11.
  const fitted = fitBudget(wanted, least, maxTokens ?? 0, limit);
  if (fitted === undefined) {
    warnings.add('field-dropped', 'reasoning', 'the response may not be long enough to think first');
    return { thinking: DISABLED, maxTokens };
  }
  const fittedTokens = maxTokens === undefined ? undefined : fitted.maxTokens;
  if (fittedTokens !== maxTokens)
    warnings.add('field-changed', 'max_tokens', 'raised, because thinking counts as part of the response');
  if (explicit !== undefined && fitted.budget !== explicit)
    warnings.add('field-changed', 'reasoning.max_tokens', 'lowered, so that there is room for the response');
  return { thinking: { type: 'enabled', token_budget: fitted.budget }, maxTokens: fittedTokens };
}
