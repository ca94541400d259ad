import type { Principal } from '../accounts/principal.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport, type RouteReport } from '../canonical/route-report.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';
import { RATE_WORDS } from '../catalog/list-price.ts';
import { costOf, type PriceMoment, type PriceTable } from '../catalog/price.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonObject } from '../lib/json.ts';
import { candidateName, endpointName } from '../routing/endpoint-name.ts';
import type { Candidate, Considered } from '../routing/plan.ts';
import { savesByCache } from '../routing/sticky.ts';
import { drawServiceMetadata } from '../wire/gateway/service-metadata.ts';
import { readCallerRules, type RulesParts } from './caller-rules.ts';
import { chooseRoute, endpointsOf, reportRoute, type Route, type RouteParts } from './choose-route.ts';
import { withSilence } from './must-reason.ts';
import { offerServerTools, type OfferParts } from './offer-server-tools.ts';
import { countPromptImages } from './prompt-images.ts';
import { rehearseRouters, type RehearsalParts } from './rehearse-routers.ts';
import { fitOnly, type ReviseParts } from './revise.ts';
import { nothingFits } from './route-errors.ts';
import { withFiles, type TakeInParts } from './take-in-files.ts';
import { longestAnswer } from './worst-case.ts';

export interface ExplainParts extends RouteParts, RulesParts, ReviseParts, OfferParts, RehearsalParts, TakeInParts {
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
  readonly region: string;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** How long is waited for those who are asked what tools they have, all together, and for files that are named. */
const LISTING_MS_MAX = 30_000;
const NANO_PER_USD = 1e9;
const PICO_PER_USD = 1e12;
const TOKENS_PER_MILLION = 1e6;

/**
 * What would happen to a request, by the very code that serves it, without asking anybody but MCP servers for their tools,
 * and without changing anything.
 * @throws GatewayError 400, 404 or 503 as the request itself would
 */
export async function explainRoute(
  parts: ExplainParts,
  asked: GenerationRequest,
  principal: Principal,
): Promise<JsonObject> {
  const signal = AbortSignal.timeout(LISTING_MS_MAX);
  return withFiles(parts, asked, { owner: principal, signal }, (request) => explain(parts, request, principal, signal));
}

async function explain(
  parts: ExplainParts,
  asked: GenerationRequest,
  principal: Principal,
  signal: AbortSignal,
): Promise<JsonObject> {
  const rules = await readCallerRules(parts, principal);
  const nowMs = parts.monotonicMs();
  const requested = asked.directives.models[0] ?? parts.defaults.model ?? '';
  const report = openRouteReport(requested, nowMs);
  const { request, drawn: routers, hold } = await rehearseRouters(parts, asked, rules, report);
  const lowered = await offerServerTools(parts, request, {
    endpointsOf: () => endpointsOf(parts, request, rules),
    asker: principal,
    signal,
  });
  const offered = lowered?.request ?? request;
  const fitting = fitOnly(parts, offered, rules);
  const found = await chooseRoute(parts, offered, rules, { fitting, hold });
  const { route, fault } = heard(found, report);
  const { plan } = route;
  reportRoute(report, route);
  const tokens: Counted = {
    prompt: estimateRequestTokens(route.request),
    completionMax: route.request.settings.maxTokens,
    moment: { atMs: parts.clock.nowMs(), promptImages: countPromptImages(route.request) },
  };
  const first = plan.candidates[0] ?? plan.cooling[0]?.candidate;
  const refusal =
    first === undefined
      ? nothingFits(
          plan.considered,
          request.directives.models.length > 0 ? request.directives.models : [requested],
          fitting,
        )
      : fault;
  return {
    requested,
    ordering: plan.ordering,
    models: route.resolved.models.map(({ slug }) => slug),
    estimated_prompt_tokens: tokens.prompt,
    ...(tokens.completionMax !== undefined && { max_completion_tokens: tokens.completionMax }),
    candidates: plan.candidates.map((candidate, at) => drawCandidate(parts, plan.considered, candidate, at, tokens)),
    resting: plan.cooling.map(({ candidate: { endpoint }, cooldown }) => ({
      ...drawEndpoint(endpoint),
      ready_in_ms: Math.max(0, Math.ceil(cooldown.untilMs - nowMs)),
    })),
    excluded: plan.considered.flatMap(({ endpoint, exclusion, lacks }) =>
      exclusion === undefined
        ? []
        : [{ ...drawEndpoint(endpoint), reason: exclusion, ...(lacks !== undefined && { lacks }) }],
    ),
    ...(routers.length > 0 && { routers }),
    sticky: drawSticky(route, first?.endpoint, tokens),
    ...(refusal !== undefined && { error: { code: refusal.status, message: refusal.message } }),
    service_metadata: drawServiceMetadata(report, parts.region),
  };
}

/** A refusal is what there is to explain, too. */
function heard(
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

function drawCandidate(
  { health, stats }: ExplainParts,
  considered: readonly Considered[],
  candidate: Candidate,
  at: number,
  tokens: Counted,
): JsonObject {
  const { endpoint, format } = candidate;
  const name = endpointName(endpoint);
  const { rank, open } = health.look(candidateName(candidate));
  const figures = stats.routing(name);
  const demotion = considered.find((one) => one.endpoint === endpoint)?.demotion;
  return {
    position: at + 1,
    ...drawEndpoint(endpoint),
    ...(candidate.credential !== undefined && { is_byok: true, credential: candidate.credential.label }),
    format,
    price: endpoint.price === undefined ? null : drawPrice(endpoint.price),
    estimated_cost: estimateCost(endpoint, tokens),
    health: open ? 'open' : (['normal', 'degraded', 'failing'] as const)[rank],
    ...(candidate.probe === true && { probe: true }),
    ...(demotion !== undefined && { demoted_by: demotion }),
    latency_last_5m: drawPercentiles(figures?.latency()),
    throughput_last_5m: drawPercentiles(figures?.throughput()),
  };
}

function drawPercentiles(
  values: { readonly p50: number; readonly p75: number; readonly p90: number; readonly p99: number } | undefined,
): JsonObject | null {
  return values === undefined ? null : { p50: values.p50, p75: values.p75, p90: values.p90, p99: values.p99 };
}

function drawEndpoint({ provider, providerName, model, upstreamModel, tag }: Endpoint): JsonObject {
  return { provider: providerName, tag: tag ?? provider, model, upstream_model: upstreamModel };
}

/** In the words of the configuration: USD per million tokens; `image`, `web_search` and `request` USD each. */
function drawPrice(price: PriceTable): JsonObject {
  const drawn: { [word: string]: number } = {};
  for (const [word, rate] of RATE_WORDS) {
    const pico = price[rate];
    if (pico !== undefined) drawn[word] = (pico * (EACH.has(rate) ? 1 : TOKENS_PER_MILLION)) / PICO_PER_USD;
  }
  return drawn;
}

const EACH: ReadonlySet<string> = new Set(['image', 'webSearch', 'request']);

/** USD: the prompt alone, and with the longest answer where the request bounds it. An unknown price is no price. */
function estimateCost(endpoint: Endpoint, { prompt, completionMax, moment }: Counted): JsonObject | null {
  const { price } = endpoint;
  if (price === undefined) return null;
  const usd = (completionTokens: number): number =>
    costOf(price, { ...NO_USAGE, promptTokens: prompt, completionTokens }, moment).totalNanoUsd / NANO_PER_USD;
  return { prompt: usd(0), ...(completionMax !== undefined && { max: usd(longestAnswer(endpoint, completionMax)) }) };
}

/** Whether the session is tied to an endpoint, and what staying there saves if its cache still holds the whole prompt. */
function drawSticky(
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
