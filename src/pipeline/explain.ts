import type { Principal } from '../accounts/principal.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport, type RouteReport } from '../canonical/route-report.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';
import { costOf, type PriceMoment } from '../catalog/price.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { savesByCache } from '../routing/sticky.ts';
import { encodeServiceMetadata } from '../wire/gateway/service-metadata.ts';
import { readCallerRules, type RulesDeps } from './admission/caller-rules.ts';
import { chooseRoute, endpointsOf, reportRoute, type RouteDeps } from './route/choose-route.ts';
import { withSilence } from './route/must-reason.ts';
import { offerServerTools, type OfferDeps } from './server-tools/offer-server-tools.ts';
import { countPromptImages } from './billing/prompt-images.ts';
import { rehearseRouters, type RehearsalDeps } from './route/rehearse-routers.ts';
import { fitOnly, type ApplyPluginsDeps } from './plugins/apply-plugins.ts';
import { nothingFits } from './route/route-errors.ts';
import { serializePlan } from './route/serialize-plan.ts';
import { timeLimitsOf, type TimeLimitDeps } from './attempt/time-limits.ts';
import { withFiles, type StoredFilesDeps } from './admission/stored-files.ts';
import { longestResponse } from './billing/cost-estimate.ts';
import type { Route } from './request.ts';

export interface ExplainDeps
  extends RouteDeps, RulesDeps, ApplyPluginsDeps, OfferDeps, RehearsalDeps, StoredFilesDeps, TimeLimitDeps {
  readonly formats: RouteDeps['formats'] & TimeLimitDeps['formats'];
  readonly region: string;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** How long the listing of MCP tools and the reading of named files may take, all together. */
const LISTING_MS_MAX = 30_000;
const NANO_PER_USD = 1e9;

/**
 * What would happen to a request, by the very code that serves it, without a call but to MCP servers for their tools,
 * and without changing anything.
 * @throws GatewayError 400, 404 or 503 as the request itself would
 */
export async function explainRoute(
  deps: ExplainDeps,
  originalRequest: GenerationRequest,
  principal: Principal,
): Promise<JsonObject> {
  const signal = AbortSignal.timeout(LISTING_MS_MAX);
  return withFiles(deps, originalRequest, { owner: principal, cancellation: { signal } }, (request) =>
    explain(deps, request, principal, signal),
  );
}

async function explain(
  deps: ExplainDeps,
  originalRequest: GenerationRequest,
  principal: Principal,
  signal: AbortSignal,
): Promise<JsonObject> {
  const rules = await readCallerRules(deps, principal);
  const nowMs = deps.monotonicMs();
  const requested = originalRequest.directives.models[0] ?? deps.defaults.model ?? '';
  const report = openRouteReport(requested, nowMs);
  const { request, serialized: routers, pin } = await rehearseRouters(deps, originalRequest, rules, report);
  const lowered = await offerServerTools(deps, request, {
    endpointsOf: () => endpointsOf(deps, request, rules),
    principal: principal,
    cancellation: { signal },
  });
  const offered = lowered?.request ?? request;
  const fitting = fitOnly(deps, offered, rules);
  const found = await chooseRoute(deps, offered, rules, { fitting, pin });
  const { route, fault } = withSupportedReasoning(found, report);
  const { plan } = route;
  reportRoute(report, route);
  const tokens: Counted = {
    prompt: estimateRequestTokens(route.request),
    completionMax: route.request.settings.maxTokens,
    moment: { atMs: deps.clock.nowMs(), promptImages: countPromptImages(route.request) },
  };
  const first = plan.candidates[0] ?? plan.cooling[0]?.candidate;
  const refusal =
    first === undefined
      ? nothingFits(
          plan.considered,
          request.directives.models.length > 0 ? request.directives.models : [requested],
          fitting,
          request,
        )
      : fault;
  return {
    requested,
    ordering: plan.ordering,
    models: route.resolved.models.map(({ slug }) => slug),
    estimated_prompt_tokens: tokens.prompt,
    ...(tokens.completionMax !== undefined && { max_completion_tokens: tokens.completionMax }),
    ...serializePlan(deps, plan, nowMs, (candidate, at) => ({
      format: candidate.format,
      estimated_cost: estimateCost(candidate.endpoint, tokens),
      time_limits: timeLimitsOf(deps, route.request, plan.candidates, at, fitting),
    })),
    ...(routers.length > 0 && { routers }),
    sticky: serializeSticky(route, first?.endpoint, tokens),
    ...(refusal !== undefined && { error: { code: refusal.status, message: refusal.message } }),
    service_metadata: encodeServiceMetadata(report, deps.region),
  };
}

/** A refusal is what there is to explain, too. */
function withSupportedReasoning(
  route: Route,
  report: Pick<RouteReport, 'chosen'>,
): { readonly route: Route; readonly fault?: GatewayError } {
  try {
    return { route: withSilence(route, report, false) };
  } catch (error) {
    if (error instanceof GatewayError) return { route, fault: error };
    throw error;
  }
}

/** What prices depend on. */
interface Counted {
  readonly prompt: number;
  readonly completionMax: number | undefined;
  readonly moment: PriceMoment;
}

/** USD: the prompt alone, and with the longest answer where the request bounds it. An unknown price is no price. */
function estimateCost(endpoint: Endpoint, { prompt, completionMax, moment }: Counted): JsonObject | null {
  const { price } = endpoint;
  if (price === undefined) return null;
  const usd = (completionTokens: number): number =>
    costOf(price, { ...NO_USAGE, promptTokens: prompt, completionTokens }, moment).totalNanoUsd / NANO_PER_USD;
  return { prompt: usd(0), ...(completionMax !== undefined && { max: usd(longestResponse(endpoint, completionMax)) }) };
}

/** Whether the session is tied to an endpoint, and what staying there saves if its cache still holds the whole prompt. */
function serializeSticky(
  { plan, session }: Route,
  first: Endpoint | undefined,
  { prompt: promptTokens, moment }: Counted,
): JsonObject {
  const saving =
    first?.price !== undefined && savesByCache(first)
      ? costOf(first.price, { ...NO_USAGE, promptTokens }, moment).totalNanoUsd -
        costOf(first.price, { ...NO_USAGE, promptTokens, cacheReadTokens: promptTokens }, moment).totalNanoUsd
      : 0;
  return {
    session: session === undefined ? 'off' : session.isNamed ? 'named' : 'by content',
    held: plan.sticky !== undefined,
    saves_at_most: saving / NANO_PER_USD,
  };
}
