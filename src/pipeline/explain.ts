import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport } from '../canonical/route-report.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { Endpoint } from '../catalog/model.ts';
import { costOf, type PriceTable } from '../catalog/price.ts';
import type { JsonObject } from '../lib/json.ts';
import { endpointName } from '../routing/endpoint-name.ts';
import type { Candidate, Considered } from '../routing/plan.ts';
import { savesByCache } from '../routing/sticky.ts';
import { drawServiceMetadata } from '../wire/gateway/service-metadata.ts';
import { chooseRoute, reportRoute, type Route, type RouteParts } from './choose-route.ts';
import { refuseUnbuilt } from './not-built-yet.ts';
import { nothingFits } from './route-errors.ts';

export interface ExplainParts extends RouteParts {
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
  readonly region: string;
}

const NANO_PER_USD = 1e9;
const PICO_PER_USD = 1e12;
const TOKENS_PER_MILLION = 1e6;

/**
 * What would happen to a request, by the very code that serves it, without asking anybody and without changing anything.
 * @throws GatewayError 400 or 404 as the request itself would
 */
export function explainRoute(parts: ExplainParts, request: GenerationRequest, accountId: string): JsonObject {
  refuseUnbuilt(request);
  const nowMs = parts.monotonicMs();
  const requested = request.directives.models[0] ?? parts.defaults.model ?? '';
  const route = chooseRoute(parts, request, accountId);
  const { plan } = route;
  const report = openRouteReport(requested, nowMs);
  reportRoute(report, route);
  const tokens = { prompt: estimateRequestTokens(route.request), completionMax: route.request.settings.maxTokens };
  const first = plan.candidates[0] ?? plan.cooling[0]?.candidate;
  const refusal =
    first === undefined
      ? nothingFits(plan.considered, request.directives.models.length > 0 ? request.directives.models : [requested])
      : undefined;
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
    sticky: drawSticky(route, first?.endpoint, tokens.prompt),
    ...(refusal !== undefined && { error: { code: refusal.status, message: refusal.message } }),
    service_metadata: drawServiceMetadata(report, parts.region),
  };
}

interface Tokens {
  readonly prompt: number;
  readonly completionMax: number | undefined;
}

function drawCandidate(
  { health, stats }: ExplainParts,
  considered: readonly Considered[],
  candidate: Candidate,
  at: number,
  tokens: Tokens,
): JsonObject {
  const { endpoint, format } = candidate;
  const name = endpointName(endpoint);
  const { rank, open } = health.look(name);
  const figures = stats.routing(name);
  const demotion = considered.find((one) => one.endpoint === endpoint)?.demotion;
  return {
    position: at + 1,
    ...drawEndpoint(endpoint),
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

/** USD per million tokens. */
function drawPrice({ prompt, completion, cacheRead, request }: PriceTable): JsonObject {
  const perMillion = (pico: number): number => (pico * TOKENS_PER_MILLION) / PICO_PER_USD;
  return {
    prompt: perMillion(prompt),
    completion: perMillion(completion),
    ...(cacheRead !== undefined && { cache_read: perMillion(cacheRead) }),
    ...(request !== undefined && { request: request / PICO_PER_USD }),
  };
}

/** USD: the prompt alone, and with the longest answer where the request bounds it. An unknown price is no price. */
function estimateCost({ price }: Endpoint, { prompt, completionMax }: Tokens): JsonObject | null {
  if (price === undefined) return null;
  const usd = (completionTokens: number): number =>
    costOf(price, { ...NO_USAGE, promptTokens: prompt, completionTokens }).totalNanoUsd / NANO_PER_USD;
  return { prompt: usd(0), ...(completionMax !== undefined && { max: usd(completionMax) }) };
}

/** Whether the session is tied to an endpoint, and what staying there saves if its cache still holds the whole prompt. */
function drawSticky({ plan, session }: Route, first: Endpoint | undefined, promptTokens: number): JsonObject {
  const saving =
    first?.price !== undefined && savesByCache(first)
      ? costOf(first.price, { ...NO_USAGE, promptTokens }).totalNanoUsd -
        costOf(first.price, { ...NO_USAGE, promptTokens, cacheReadTokens: promptTokens }).totalNanoUsd
      : 0;
  return {
    session: session === undefined ? 'off' : session.isNamed ? 'named' : 'by content',
    held: plan.sticky !== undefined,
    saves_at_most: saving / NANO_PER_USD,
  };
}
