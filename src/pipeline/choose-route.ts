import type { ProviderPreferences } from '../canonical/directives.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { RouteReport } from '../canonical/route-report.ts';
import type { Catalog, Endpoint, Model } from '../catalog/model.ts';
import { candidateName, endpointName } from '../routing/endpoint-name.ts';
import type { Health } from '../routing/health.ts';
import { withDefaults } from '../routing/preferences.ts';
import { planRoute, type FormatFacts, type PlanQuestion, type RoutePlan } from '../routing/plan.ts';
import { drawStage } from '../routing/stage.ts';
import type { EndpointStats } from '../routing/stats.ts';
import type { RequestFitting } from '../plugins/contract.ts';
import type { Session, SessionHold, StickySessions } from '../routing/sticky.ts';
import type { AnswerMemory } from './answer-memory.ts';
import type { CallerRules } from './caller-rules.ts';
import { resolveModels, type ResolvedModels } from './resolve-models.ts';

/** What a route is chosen by. */
export interface RouteParts {
  readonly catalog: Catalog;
  readonly defaults: { readonly model?: string; readonly provider: Partial<ProviderPreferences> };
  readonly formats: PlanQuestion['formats'] & Readonly<Record<string, FormatFacts>>;
  readonly health: Health;
  readonly stats: EndpointStats;
  readonly sticky: StickySessions;
  readonly memory: Pick<AnswerMemory, 'homeOf'>;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

export interface Route {
  readonly plan: RoutePlan;
  /** As it goes on: a suffix of the model's slug may have changed it. */
  readonly request: GenerationRequest;
  readonly resolved: ResolvedModels;
  readonly session: Session | undefined;
}

/**
 * Models and endpoints for one request: what is served and what is explained come from here alone. Mostly at once, else a
 * promise, where other processes are asked whom they tied the session to.
 * @param options `fitting` makes the request fit endpoints that are too small for it; `hold` is what a router asks for its session
 * @throws GatewayError 400 or 404 for the models, at once
 */
export function chooseRoute(
  parts: RouteParts,
  asked: GenerationRequest,
  rules: CallerRules,
  { fitting, hold }: { readonly fitting?: RequestFitting | undefined; readonly hold?: SessionHold | undefined } = {},
): Route | Promise<Route> {
  const { sticky } = parts;
  const { policy } = rules;
  const resolved = resolveModels(asked, policy.defaultModel ?? parts.defaults.model, parts.catalog);
  const request = resolved.wantsReasoning ? withReasoning(asked) : asked;
  const preferences = preferencesOf(parts, request, rules);
  const plain = sticky.sessionOf(request, rules.accountId);
  const session = plain === undefined || hold === undefined ? plain : { ...plain, hold };
  const told = session && sticky.ask(session, resolved.models);
  const asking = { request, resolved, preferences, session, fitting };
  if (told === undefined) return planned(parts, rules, asking);
  return told.then((ties) => planned(parts, rules, asking, ties));
}

function planned(
  parts: RouteParts,
  { policy, credentials, isLimited }: CallerRules,
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
  told?: ReadonlyMap<Model, string>,
): Route {
  const { health, stats, sticky } = parts;
  const plan = planRoute({
    request,
    models: resolved.models,
    shortcuts: resolved.shortcuts,
    preferences,
    permissions: policy,
    mustBePriced: isLimited,
    // The caller's own order is a wish that counts more.
    home: request.directives.provider.order === undefined ? parts.memory.homeOf(request) : undefined,
    sticky: session && ((model: Model) => sticky.find(session, model) ?? told?.get(model)),
    formats: parts.formats,
    fits: fitting?.judge(resolved.models.flatMap(({ endpoints }) => endpoints)),
    credentials,
    health: (endpoint, credential) =>
      health.look(credential === undefined ? endpointName(endpoint) : candidateName({ endpoint, credential })),
    figures: (endpoint: Endpoint) => stats.routing(endpointName(endpoint)),
    random: parts.random(),
  });
  return { plan, request, resolved, session };
}

/** Everybody who has one of the models, whatever speaks against them. @throws GatewayError 400 or 404 for the models */
export function endpointsOf(
  { catalog, defaults }: Pick<RouteParts, 'catalog' | 'defaults'>,
  request: Pick<GenerationRequest, 'directives' | 'settings'>,
  { policy }: CallerRules,
): readonly Endpoint[] {
  const { models } = resolveModels(request, policy.defaultModel ?? defaults.model, catalog);
  return models.flatMap(({ endpoints }) => endpoints);
}

/** What the request says of providers, over what its key, its workspace and the operator say. */
export function preferencesOf(
  { defaults }: Pick<RouteParts, 'defaults'>,
  request: GenerationRequest,
  { policy }: CallerRules,
): ProviderPreferences {
  let preferences = request.directives.provider;
  for (const each of policy.preferences) preferences = withDefaults(preferences, each);
  return withDefaults(preferences, defaults.provider);
}

/** `:thinking`. What the caller itself says of reasoning counts before the name. @source generation.md 3.8 */
function withReasoning(request: GenerationRequest): GenerationRequest {
  const { settings } = request;
  if (settings.reasoning?.enabled !== undefined || settings.reasoning?.effort !== undefined) return request;
  return { ...request, settings: { ...settings, reasoning: { ...settings.reasoning, enabled: true } } };
}

/** Tells the report what the plan came to. @source generation.md 10 */
export function reportRoute(report: RouteReport, { plan, resolved }: Route): void {
  const first = resolved.models[0];
  report.routed = true;
  if (report.chosen.length === 0) report.strategy = (first && resolved.strategies.get(first)) ?? 'direct';
  report.total = plan.considered.length;
  report.available = plan.considered
    .filter(({ exclusion }) => exclusion === undefined)
    .map(({ endpoint }) => ({ provider: endpoint.providerName, model: endpoint.model }));
  const stage = drawStage(plan);
  if (stage !== undefined) report.pipeline.push(stage);
}

/**
 * Of several slugs one may stand for a router's choice and another for itself: whose model served, that strategy counts.
 * @source generation.md 3.7: a model that is not the first one asked for served
 */
export function reportServed(report: RouteReport, { resolved }: Route, served: Endpoint): void {
  if (report.chosen.includes(served.model)) return;
  const [first] = resolved.models;
  if (first?.slug === served.model && !resolved.isFirstMissing)
    report.strategy = resolved.strategies.get(first) ?? 'direct';
  else if (resolved.asked > 1) report.strategy = 'fallback';
}
