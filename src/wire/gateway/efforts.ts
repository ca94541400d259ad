import type { Warnings } from './warnings.ts';
import { EFFORTS, type Effort, type ReasoningSettings, type Settings } from '../../canonical/request.ts';

/** What share of the output each effort may spend. @spec reasoning-5 */
const RATIO_OF_EFFORT: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const BY_RATIO = EFFORTS.filter((effort) => effort !== 'none');
/** @spec reasoning-5: reasoning budget. */
export const BUDGET_TOKENS_MIN = 1_024;
const BUDGET_TOKENS_MAX = 128_000;
/** Tokens left for the visible response when the budget is not below the maximum. @spec reasoning-6 */
const VISIBLE_TOKENS_MIN = 1_024;

/** The tokens that an effort may spend of a response of so many. @spec reasoning-5 */
export function budgetOfEffort(effort: Exclude<Effort, 'none'>, outputTokens: number): number {
  const share = Math.floor(Math.min(outputTokens * RATIO_OF_EFFORT[effort], BUDGET_TOKENS_MAX));
  return Math.max(share, BUDGET_TOKENS_MIN);
}

/** A budget for reasoning, and the bound of the response that it is part of. */
export interface FittedBudget {
  readonly budget: number;
  readonly maxTokens: number;
}

/**
 * Makes room for the response beside its reasoning: raises its bound as far as the endpoint goes, else lowers the budget.
 * `undefined` where that leaves less than the least budget. @spec reasoning-6
 * @param maxTokens of the response
 * @param limit what the endpoint can answer, where known
 */
export function fitBudget(
  budget: number,
  least: number,
  maxTokens: number,
  limit: number | undefined,
): FittedBudget | undefined {
  if (maxTokens > budget) return { budget, maxTokens };
  const raised = Math.min(budget + VISIBLE_TOKENS_MIN, Math.max(limit ?? Number.MAX_SAFE_INTEGER, maxTokens));
  const lowered = Math.min(budget, raised - VISIBLE_TOKENS_MIN);
  return lowered < least ? undefined : { budget: lowered, maxTokens: raised };
}

/**
 * The largest limit that `fitBudget` makes of the requested one, in every mode of thinking. `undefined` where none was
 * requested.
 * @param limit the longest response of the endpoint, where known
 */
export function raisedLimit({ maxTokens, reasoning = {} }: Settings, limit: number | undefined): number | undefined {
  const effort = effortOf(reasoning, undefined);
  if (maxTokens === undefined || effort === undefined || effort === 'none') return maxTokens;
  // An effort is a share of the response, so that only the least budget may be more than that.
  const budget = Math.max(reasoning.maxTokens ?? 0, BUDGET_TOKENS_MIN);
  return fitBudget(budget, 1, maxTokens, limit)?.maxTokens ?? maxTokens;
}

/**
 * The requested effort, for a wire that knows efforts only. An effort counts before a budget; a budget becomes the effort
 * of the same share of the response. `undefined` when neither was requested. @spec reasoning-7
 */
export function effortOf(
  { effort, maxTokens, enabled, adaptive }: ReasoningSettings,
  outputTokensMax: number | undefined,
): Effort | undefined {
  if (enabled === false || maxTokens === 0 || effort === 'none') return 'none';
  if (effort !== undefined) return effort;
  if (maxTokens === undefined) return enabled === true || adaptive === true ? 'medium' : undefined;
  return outputTokensMax === undefined ? 'medium' : effortOfBudget(maxTokens, outputTokensMax);
}

/** The effort whose share of the response is nearest to a budget. @spec reasoning-7 */
export function effortOfBudget(tokens: number, outputTokensMax: number): Exclude<Effort, 'none'> {
  const share = tokens / outputTokensMax;
  return nearest(BY_RATIO, (effort) => Math.abs(RATIO_OF_EFFORT[effort] - share)) ?? 'medium';
}

/** The nearest of the efforts that a model knows. Another effort than `none` never becomes `none`. @spec reasoning-3 */
export function nearestEffort<Name extends Effort>(requested: Effort, known: readonly Name[]): Name | undefined {
  const exact = known.find((effort) => effort === requested);
  if (exact !== undefined || requested === 'none') return exact;
  const rising = known.filter((effort) => effort !== 'none').toSorted((left, right) => placeOf(left) - placeOf(right));
  return nearest(rising, (effort) => Math.abs(placeOf(effort) - placeOf(requested)));
}

function placeOf(effort: Effort): number {
  return EFFORTS.indexOf(effort);
}

/** Ties go down: the candidates rise. */
function nearest<Name extends Effort>(candidates: readonly Name[], distance: (name: Name) => number): Name | undefined {
  let found: Name | undefined;
  for (const candidate of candidates)
    if (found === undefined || distance(candidate) < distance(found)) found = candidate;
  return found;
}

/** The requested limit of the response, within that of the endpoint. */
export function capTokens(
  requested: number | undefined,
  limit: number | undefined,
  warnings: Pick<Warnings, 'add'>,
): number | undefined {
  if (requested === undefined || limit === undefined || requested <= limit) return requested;
  warnings.add('field-changed', 'max_tokens', `lowered to what the endpoint can answer, ${limit}`);
  return limit;
}
