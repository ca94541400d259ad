import type { Plugin } from '../../plugins/contract.ts';
import type { Considered } from '../../routing/route-plan.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import { chooseRoute, reportRoute, type RouteDeps } from '../route/choose-route.ts';
import { isSlugOf } from '../plugins/enabled-plugins.ts';
import { withDefaultModel } from '../route/resolve-models.ts';
import { nothingFits } from '../route/route-errors.ts';
import type { CallerRules } from '../request.ts';

export interface RefuseForbiddenDeps extends RouteDeps {
  readonly plugins: readonly Plugin[];
}

/**
 * Before what a request says is a reason to refuse it: whether the models that it asks for are there, and whether the
 * rules of its caller leave one of them. A slug that stands for a router's choice is no model yet: routers choose after
 * filters have looked.
 * @throws GatewayError 400 or 404
 * @spec auth-18
 */
export async function refuseForbidden(
  deps: RefuseForbiddenDeps,
  received: GenerationRequest,
  report: RouteReport,
  rules: CallerRules,
): Promise<void> {
  const request = withDefaultModel(received, rules.policy.defaultModel ?? deps.defaults.model);
  const slugs = request.directives.models;
  if (slugs.some((slug) => deps.plugins.some((plugin) => isSlugOf(plugin, slug)))) return;
  const found = await chooseRoute(deps, request, rules);
  const { considered } = found.plan;
  if (!considered.every(isForbidden)) return;
  reportRoute(report, found);
  throw nothingFits(considered, slugs, undefined, request);
}

/** Other reasons may pass: a plugin can still make the request fit. */
function isForbidden({ exclusion }: Considered): boolean {
  return exclusion?.startsWith('guardrail:') === true || exclusion?.startsWith('data_policy:') === true;
}
