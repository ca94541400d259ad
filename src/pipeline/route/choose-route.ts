import type { ProviderPreferences } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ModelRequest } from '../../canonical/operation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import type { Catalog, Endpoint, Model } from '../../catalog/model.ts';
import { candidateName, endpointName } from '../../routing/endpoint-name.ts';
import type { Health } from '../../routing/health.ts';
import { isDecisionModel, isSilent, routesOf } from '../../catalog/serves-kind.ts';
import { withDefaults } from '../../routing/preferences.ts';
import { planCandidates } from '../../routing/plan.ts';
import type { FormatFacts, PlanInput, RoutePlan } from '../../routing/route-plan.ts';
import { serializeStage } from '../../routing/stage.ts';
import type { EndpointStats } from '../../routing/stats.ts';
import type { RequestFitting } from '../../plugins/contract.ts';
import type { SessionPin, StickySessions } from '../../routing/sticky.ts';
import type { ResponseMemory } from '../replay/replay-memory.ts';
import type { CallerRules, ResolvedModels, Route } from '../request.ts';
import { resolveModels } from './resolve-models.ts';

/** What a route is chosen by. */
export interface RouteDeps {
  readonly catalog: Catalog;
  readonly defaults: { readonly model?: string; readonly provider: Partial<ProviderPreferences> };
  readonly formats: PlanInput['formats'] & Readonly<Record<string, FormatFacts>>;
  readonly health: Health;
  readonly stats: EndpointStats;
  readonly sticky: StickySessions;
  readonly memory: Pick<ResponseMemory, 'pinnedProviderOf'>;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * Chooses models and endpoints for one request, to serve it and to explain it. Mostly at once, else as a promise, where
 * another process may know the provider of the session.
 * @param options `fitting` makes the request fit endpoints that are too small for it; `pin` keeps the session of a router with its model
 * @throws GatewayError 400 or 404 for the models, at once
 */
export function chooseRoute(
  deps: RouteDeps,
  originalRequest: GenerationRequest,
  rules: CallerRules,
  { fitting, pin }: { readonly fitting?: RequestFitting | undefined; readonly pin?: SessionPin | undefined } = {},
): Route | Promise<Route> {
  const { sticky } = deps;
  const { policy } = rules;
  const resolved = resolveModels(originalRequest, policy.defaultModel ?? deps.defaults.model, deps.catalog);
  refuseSilent(resolved.models, originalRequest.directives.models);
  const request = resolved.wantsReasoning ? withReasoning(originalRequest) : originalRequest;
  const preferences = preferencesOf(deps, request, rules);
  const plain = sticky.sessionOf(request, rules.scope);
  const session = plain === undefined || pin === undefined ? plain : { ...plain, pin };
  const reported = session && sticky.findShared(session, resolved.models);
  const asking = { request, resolved, preferences, session, fitting };
  if (reported === undefined) return planned(deps, rules, asking);
  return reported.then((ties) => planned(deps, rules, asking, ties));
}

/** @throws GatewayError 400 for models that take no part in conversations, with the path at which they serve. @spec decision-13 */
function refuseSilent(models: readonly Model[], requestedModels: readonly string[]): void {
  const [first] = models;
  if (first === undefined || !models.every(isSilent)) return;
  const isDecider = isDecisionModel(first);
  const message = `${isDecider ? 'is a decision model' : 'writes no text'}: send its requests to ${routesOf(first)}`;
  throw new GatewayError('invalid_request', `model: ${JSON.stringify(first.slug)} ${message}`, {
    issues: [{ path: 'model', message }],
    availability: { code: 'wrong_endpoint', retryable: false, requestedModels },
  });
}

/** What a plan depends on besides the request itself. */
interface PlanExtras extends Pick<PlanInput, 'pinnedProvider' | 'sticky' | 'fits'> {
  readonly preferences?: ProviderPreferences;
}

/** Filters and orders the endpoints of the models for any request of a caller. */
export function planFor(
  deps: Pick<RouteDeps, 'defaults' | 'formats' | 'health' | 'stats' | 'random'>,
  rules: CallerRules,
  { request, resolved }: { readonly request: ModelRequest; readonly resolved: ResolvedModels },
  { preferences, pinnedProvider, sticky, fits }: PlanExtras = {},
): RoutePlan {
  const { health, stats } = deps;
  const { policy, credentials, isLimited } = rules;
  return planCandidates({
    request,
    models: resolved.models,
    shortcuts: resolved.shortcuts,
    preferences: preferences ?? preferencesOf(deps, request, rules),
    permissions: policy,
    mustBePriced: isLimited,
    pinnedProvider,
    sticky,
    fits,
    formats: deps.formats,
    credentials,
    health: (endpoint, credential) =>
      health.look(credential === undefined ? endpointName(endpoint) : candidateName({ endpoint, credential })),
    metrics: (endpoint: Endpoint) => stats.routing(endpointName(endpoint)),
    random: deps.random(),
  });
}

function planned(
  deps: RouteDeps,
  rules: CallerRules,
  {
    request,
    resolved,
    preferences,
    session,
    fitting,
  }: Omit<Route, 'plan'> & {
    readonly preferences: ProviderPreferences;
    readonly fitting: RequestFitting | undefined;
  },
  reported?: ReadonlyMap<Model, string>,
): Route {
  const { sticky } = deps;
  const plan = planFor(
    deps,
    rules,
    { request, resolved },
    {
      preferences,
      // The caller's own order is a wish that counts more.
      pinnedProvider:
        request.directives.provider.order === undefined
          ? deps.memory.pinnedProviderOf(request, rules.scope)
          : undefined,
      sticky: session && ((model: Model) => sticky.find(session, model) ?? reported?.get(model)),
      fits: fitting?.judge(allEndpoints(resolved.models)),
    },
  );
  return { plan, request, resolved, session };
}

/** All endpoints of the models, whatever excludes them. @throws GatewayError 400 or 404 for the models */
export function endpointsOf(
  { catalog, defaults }: Pick<RouteDeps, 'catalog' | 'defaults'>,
  request: Pick<GenerationRequest, 'directives' | 'settings'>,
  { policy }: CallerRules,
): readonly Endpoint[] {
  const { models } = resolveModels(request, policy.defaultModel ?? defaults.model, catalog);
  return allEndpoints(models);
}

function allEndpoints(models: readonly Model[]): readonly Endpoint[] {
  const [only] = models;
  return models.length === 1 && only !== undefined ? only.endpoints : models.flatMap(({ endpoints }) => endpoints);
}

/** What the request says of providers, over what its key, its workspace and the operator say. */
export function preferencesOf(
  { defaults }: Pick<RouteDeps, 'defaults'>,
  request: Pick<ModelRequest, 'directives'>,
  { policy }: CallerRules,
): ProviderPreferences {
  let preferences = request.directives.provider;
  for (const each of policy.preferences) preferences = withDefaults(preferences, each);
  return withDefaults(preferences, defaults.provider);
}

/** `:thinking`. What the caller itself says of reasoning counts before the name. @spec model-16 */
function withReasoning(request: GenerationRequest): GenerationRequest {
  const { settings } = request;
  if (settings.reasoning?.enabled !== undefined || settings.reasoning?.effort !== undefined) return request;
  return { ...request, settings: { ...settings, reasoning: { ...settings.reasoning, enabled: true } } };
}

/** Tells the report what the plan came to. @spec metadata-8 */
export function reportRoute(report: RouteReport, { plan, resolved }: Pick<Route, 'plan' | 'resolved'>): void {
  const first = resolved.models[0];
  report.routed = true;
  report.plan = plan;
  if (report.chosen.length === 0) report.strategy = (first && resolved.strategies.get(first)) ?? 'direct';
  report.total = plan.considered.length;
  const available: RouteReport['available'][number][] = [];
  for (const { endpoint, exclusion } of plan.considered)
    if (exclusion === undefined) available.push({ provider: endpoint.providerName, model: endpoint.model });
  report.available = available;
  const stage = serializeStage(plan);
  if (stage !== undefined) report.pipeline.push(stage);
}

/**
 * Of several slugs one may stand for a router's choice and another for itself: whose model served, that strategy counts.
 * @spec metadata-4: a model served that is not the first of the request
 */
export function reportServed(report: RouteReport, { resolved }: Route, served: Endpoint): void {
  if (report.chosen.includes(served.model)) return;
  const [first] = resolved.models;
  if (first?.slug === served.model && !resolved.isFirstMissing)
    report.strategy = resolved.strategies.get(first) ?? 'direct';
  else if (resolved.requestedCount > 1) report.strategy = 'fallback';
}
