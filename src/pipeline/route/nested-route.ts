import type { BudgetEstimate } from '../../accounts/limits/ledger.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { Route } from '../request.ts';

/** The route with a maximum that every endpoint of it can write: plugins and tools set one for any model. */
export function withinEndpoints(route: Route): Route {
  const { plan, request } = route;
  const { maxTokens } = request.settings;
  const candidates = [...plan.candidates, ...plan.cooling.map(({ candidate }) => candidate)];
  const least = Math.min(...candidates.map(({ endpoint }) => endpoint.outputTokensMax ?? Infinity));
  if (maxTokens === undefined || maxTokens <= least) return route;
  return { ...route, request: { ...request, settings: { ...request.settings, maxTokens: least } } };
}

/** What runs a generation gives it too little; a limit of the key that pays would be another error. */
export class BudgetTooSmall extends Error {
  constructor() {
    super('The budget of a nested generation is too small for it.');
    this.name = 'BudgetTooSmall';
  }
}

/**
 * The route with a maximum that its budget pays for.
 * @throws GatewayError 402 where it does not even pay for the prompt
 */
export function withinBudget(
  route: Route,
  budgetNanoUsd: number | undefined,
  estimateOf: (route: Route) => BudgetEstimate,
): Route {
  if (budgetNanoUsd === undefined) return route;
  const { worst, affordableTokens } = estimateOf(route);
  if (worst.ownNanoUsd + worst.byokNanoUsd <= budgetNanoUsd) return route;
  const tokens = affordableTokens(budgetNanoUsd);
  if (tokens < 1)
    throw new GatewayError(
      'payment_required',
      `The nested generation of this request may cost at most ${usdFromNano(budgetNanoUsd)} USD, which is too little for it.`,
      { cause: new BudgetTooSmall() },
    );
  const { request } = route;
  const maxTokens = Math.min(request.settings.maxTokens ?? Infinity, tokens);
  return { ...route, request: { ...request, settings: { ...request.settings, maxTokens } } };
}
