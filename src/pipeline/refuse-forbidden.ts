import type { Plugin } from '../plugins/contract.ts';
import type { Considered } from '../routing/plan.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { CallerRules } from './caller-rules.ts';
import { chooseRoute, reportRoute, type RouteParts } from './choose-route.ts';
import { isSlugOf } from './enabled-plugins.ts';
import { withDefaultModel } from './resolve-models.ts';
import { nothingFits } from './route-errors.ts';

export interface RefuseForbiddenParts extends RouteParts {
  readonly plugins: readonly Plugin[];
}

/**
 * Before what a request says is a reason to refuse it: whether the models that it asks for are there, and whether the
 * rules of its caller leave one of them. A slug that stands for a router's choice is no model yet: routers choose after
 * filters have looked.
 * @throws GatewayError 400 or 404
 * @source areas.md 0.2, item 7 before 9
 */
export async function refuseForbidden(
  parts: RefuseForbiddenParts,
  record: Pick<GenerationRecord, 'request' | 'report'>,
  rules: CallerRules,
): Promise<void> {
  const request = withDefaultModel(record.request, rules.policy.defaultModel ?? parts.defaults.model);
  const slugs = request.directives.models;
  if (slugs.some((slug) => parts.plugins.some((plugin) => isSlugOf(plugin, slug)))) return;
  const found = await chooseRoute(parts, request, rules);
  const { considered } = found.plan;
  if (!considered.every(isForbidden)) return;
  reportRoute(record.report, found);
  throw nothingFits(considered, slugs, undefined);
}

/** Other reasons may pass: a plugin can still make the request fit. */
function isForbidden({ exclusion }: Considered): boolean {
  return exclusion?.startsWith('guardrail:') === true || exclusion?.startsWith('data_policy:') === true;
}
