import type { BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { RequestFitting } from '../../plugins/contract.ts';
import type { SessionPin } from '../../routing/sticky.ts';
import type { CallerRules, NestedContext, Route } from '../request.ts';
import { chooseRoute, reportRoute, type RouteDeps } from './choose-route.ts';
import { withSilence } from './must-reason.ts';
import { withinBudget, withinEndpoints } from './nested-route.ts';
import { nothingFits } from './route-errors.ts';

export interface PlanRouteInput {
  readonly request: GenerationRequest;
  readonly rules: CallerRules;
  readonly report: RouteReport;
  /** Makes the request fit endpoints that are too small for it. */
  readonly fitting: RequestFitting | undefined;
  /** The model that a router chose for the session before. */
  readonly pin: SessionPin | undefined;
  /** Set for a generation inside another one. */
  readonly nested: NestedContext | undefined;
  /** The most that a route may come to cost. */
  readonly estimate: (route: Route) => BudgetEstimate;
}

/**
 * Resolves the models, filters and orders their endpoints, and reports what came of it. Mostly at once, as `chooseRoute`.
 * @throws GatewayError 400 or 404 for the models, 404 where no endpoint may serve the request, 402 for a nested generation
 * whose budget is too small; thrown or as a rejection
 */
export function planRoute(deps: RouteDeps, input: PlanRouteInput): Route | Promise<Route> {
  const chosen = chooseRoute(deps, input.request, input.rules, input);
  return chosen instanceof Promise ? chosen.then((route) => finish(route, input)) : finish(chosen, input);
}

function finish(chosen: Route, { request, report, fitting, nested, estimate }: PlanRouteInput): Route {
  reportRoute(report, chosen);
  const { plan } = chosen;
  if (plan.candidates.length === 0 && plan.cooling.length === 0) {
    const slugs = request.directives.models;
    throw nothingFits(plan.considered, slugs.length > 0 ? slugs : [report.requested], fitting, request);
  }
  const { reasoning } = chosen.request.settings;
  const route = reasoning === undefined ? chosen : withSilence(chosen, report, nested !== undefined);
  return nested === undefined ? route : withinBudget(withinEndpoints(route), nested.budgetNanoUsd, estimate);
}
