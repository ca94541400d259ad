import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Operation, OperationKind } from '../../canonical/operation.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { Model } from '../../catalog/model.ts';
import { routesOf, servesKind } from '../../catalog/serves-kind.ts';
import type { RoutePlan } from '../../routing/route-plan.ts';
import type { CallerRules, ResolvedModels } from '../request.ts';
import { planFor, reportRoute, type RouteDeps } from '../route/choose-route.ts';
import { resolveModels, variantsOf } from '../route/resolve-models.ts';
import { nothingFits } from '../route/route-errors.ts';

export type PlanOperationDeps = Omit<RouteDeps, 'memory' | 'sticky'>;

/** Suffixes that change what a model reads or writes of a conversation. */
const REFUSED_SUFFIXES = ['online', 'thinking'] as const;

/** `@preset/name`, alone or behind a model. */
const PRESET_MARK = '@preset/';

/** The endpoints of an operation, in order. */
export interface OperationRoute {
  readonly plan: RoutePlan;
  readonly resolved: ResolvedModels;
}

/**
 * Resolves the model, filters and orders its endpoints, and reports what came of it.
 * @throws GatewayError 400 for the model, or for the one member that no endpoint takes; 404 where none may serve
 */
export function planOperation(
  deps: PlanOperationDeps,
  request: Operation,
  rules: CallerRules,
  report: RouteReport,
): OperationRoute {
  const route = routeOperation(deps, request, rules, report);
  const refusal = refusalOf(route, request);
  if (refusal !== undefined) throw refusal;
  return route;
}

/** Why no endpoint may serve; `undefined`: one may. */
export function refusalOf({ plan }: OperationRoute, request: Operation): GatewayError | undefined {
  if (plan.candidates.length > 0 || plan.cooling.length > 0) return undefined;
  return nothingFits(plan.considered, request.directives.models, undefined, request);
}

/** The same, whether there are endpoints or none. @throws GatewayError 400 or 404 for the model */
export function routeOperation(
  deps: PlanOperationDeps,
  request: Operation,
  rules: CallerRules,
  report: RouteReport,
): OperationRoute {
  const { models: slugs } = request.directives;
  if (slugs.some((slug) => slug.includes(PRESET_MARK)))
    throw invalid('model', `cannot name a preset: presets do not apply to ${request.kind}`);
  const variants = variantsOf(slugs, undefined, deps.catalog);
  const refused = REFUSED_SUFFIXES.find((suffix) => variants.has(suffix));
  if (refused !== undefined) throw invalid('model', `the suffix ":${refused}" does not apply to ${request.kind}`);
  const resolved = resolveModels({ directives: request.directives, settings: {} }, undefined, deps.catalog, false);
  for (const model of resolved.models)
    if (!servesKind(model, request.kind)) throw wrongEndpoint(model, request.kind, slugs);
  const plan = planFor(deps, rules, { request, resolved });
  reportRoute(report, { plan, resolved });
  return { plan, resolved };
}

const MADE = {
  embeddings: 'embeddings',
  rerank: 'order of documents',
  image: 'pictures',
  stt: 'transcriptions',
  tts: 'speech',
  video: 'clips',
  decisions: 'decisions of its own',
} as const satisfies Readonly<Record<OperationKind, string>>;

function wrongEndpoint(model: Model, kind: OperationKind, requestedModels: readonly string[]): GatewayError {
  const message = `makes no ${MADE[kind]}`;
  return new GatewayError(
    'invalid_request',
    `model: ${JSON.stringify(model.slug)} ${message}; send its requests to ${routesOf(model)}`,
    {
      issues: [{ path: 'model', message }],
      availability: { code: 'wrong_endpoint', retryable: false, requestedModels },
    },
  );
}
