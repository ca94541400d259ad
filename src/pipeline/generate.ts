import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { BytesTaken } from '../lib/memory/byte-budget.ts';
import { admit, type AdmitDeps } from './admission/admit.ts';
import { refuseForbidden } from './admission/refuse-forbidden.ts';
import { inlineStoredFiles, type StoredFilesDeps } from './admission/stored-files.ts';
import type { FallbackDeps } from './attempt/fallback.ts';
import { ModelTurns, type ModelTurnsInput } from './attempt/model-turns.ts';
import { RouteOutcome, type OutcomeDeps } from './route/route-outcome.ts';
import { createResponseBudget } from './billing/response-budget.ts';
import { estimateOf, type RouteEstimate } from './billing/route-estimate.ts';
import { openContentFilters, type ContentFilterDeps, type ContentFilters } from './content-filters/content-filters.ts';
import { hasFilters } from './content-filters/filter-rules.ts';
import { judgeRequest } from './content-filters/judge-filters.ts';
import { createDecide } from './decisions/decide-inside.ts';
import { Exchange, type ExchangeDeps } from './exchange.ts';
import { reserveContinuation } from './failover/reserve-continuation.ts';
import { applyPlugins, type ApplyPluginsDeps, type RequestTransform } from './plugins/apply-plugins.ts';
import type {
  AdaptRequest,
  CallerRules,
  Generate,
  KeepResponse,
  RequestFacts,
  Route,
  UpstreamResponse,
} from './request.ts';
import type { FinalUsage } from '../wire/format.ts';
import { relayStream, relayWhole, type RelayInput, type ResponseEnding } from './response/relay.ts';
import { lookUpCachedResponse, type ResponseCacheDeps } from './response/response-cache.ts';
import { LARGE_ANSWER_BYTES } from './response/whole-response-budget.ts';
import { endpointsOf, reportServed, type RouteDeps } from './route/choose-route.ts';
import { RequestChoice, type ChoiceDeps } from './route/model-choice.ts';
import { planRoute } from './route/plan-route.ts';
import { withoutLearning } from './route/without-learning.ts';
import { variantsOf, withDefaultModel } from './route/resolve-models.ts';
import { withNativeTools } from './server-tools/native-tools.ts';
import {
  noteMissingTools,
  offerServerTools,
  type OfferDeps,
  type OfferedTools,
} from './server-tools/offer-server-tools.ts';
import { restoreServerCalls } from './server-tools/restore-server-calls.ts';
import { runServerTools, type ServerToolDeps } from './server-tools/run-server-tools.ts';

export interface GenerateDeps
  extends
    AdmitDeps,
    ApplyPluginsDeps,
    ContentFilterDeps,
    ExchangeDeps,
    FallbackDeps,
    OfferDeps,
    OutcomeDeps,
    ServerToolDeps,
    StoredFilesDeps,
    Omit<RouteDeps, 'formats' | 'memory' | 'stats'>,
    Pick<ChoiceDeps, 'routers'> {
  // Of several rooms: each uses a part.
  readonly ledger: ExchangeDeps['ledger'];
  readonly formats: FallbackDeps['formats'] & RouteDeps['formats'];
  readonly memory: FallbackDeps['memory'] & RouteDeps['memory'];
  readonly stats: RouteDeps['stats'];
  readonly health: RouteDeps['health'];
  readonly sticky: RouteDeps['sticky'];
  readonly responseCache: ResponseCacheDeps;
  /** Finds out what a request is about while its model works, of as many as there is time for. Absent: of none. Never throws. */
  readonly classify?: ((log: RequestFacts['log']) => void) | undefined;
  /** How long a request waits for a judge of a guardrail. */
  readonly judgeTimeoutMs: number;
  /** Whether mid-stream failover is on where the request does not say. */
  readonly rescue: boolean;
}

/** A request from its arrival to its charge, whatever its outcome. */
export function createGenerate(allDeps: GenerateDeps): Generate {
  const generate: Generate = async (incoming, format, writer) => {
    const deps = withoutLearning(allDeps, incoming.origin);
    const exchange = new Exchange(deps, generate, incoming, format, writer);
    let isCharged = false;
    try {
      const ending = await respond(deps, exchange);
      const { durable } = exchange.settle();
      // Together: a rejection must not come while nothing waits for it.
      if (exchange.facts.meter.bytes >= LARGE_ANSWER_BYTES) await Promise.all([deps.turns.next(), durable]);
      const finalUsage = exchange.finalUsage();
      const { cancelled } = exchange.facts.meter;
      const kept = incoming.keep && (await keepResponse(incoming.keep, ending, finalUsage, cancelled));
      const encoded = ending.encode(kept === true ? { ...finalUsage, isStored: true } : finalUsage);
      await durable;
      isCharged = true;
      ending.send(encoded);
    } catch (error) {
      await exchange.refuse(error);
    } finally {
      const closing = exchange.close(isCharged);
      if (closing !== undefined) await closing;
    }
  };
  return generate;
}

/** A response that costs nothing, but is a request. */
const UNCOUNTED = { promptTokens: () => 1, isFree: false } as const;

/**
 * The steps of a request whose response may be cached, up to the end of the response.
 * @throws GatewayError in place of a response
 */
async function respond(deps: GenerateDeps, exchange: Exchange): Promise<ResponseEnding> {
  const { incoming, facts, writer, reservation, cancellation } = exchange;
  const { log, report, meter } = facts;
  const { principal } = incoming;

  deps.takeRoom();
  log.hasRoom = true;
  const admitted = admit(deps, principal);
  const rules = admitted instanceof Promise ? await admitted : admitted;
  const onTaken = (files: BytesTaken): void => exchange.defer(() => files.shrink(0));
  const inlined = inlineStoredFiles(deps, incoming.request, { owner: principal, cancellation, onTaken });
  const received = inlined instanceof Promise ? await inlined : inlined;
  log.request = received;

  const filtering = filterIncoming(deps, exchange, rules, received);
  const filters = filtering && (await filtering);

  const cached =
    log.request.directives.responseCache === undefined
      ? undefined
      : await lookUpCachedResponse(deps.responseCache, {
          request: log.request,
          report,
          principal,
          policy: rules.policy,
        });
  if (cached !== undefined) writer.announce(cached.headers);
  if (cached?.hit !== undefined) {
    const { sourceId, endpoint, response } = cached.hit;
    await reservation.takePermit(UNCOUNTED);
    log.cacheSourceId = sourceId;
    meter.replay(endpoint, deps.clock.monotonicMs());
    const filtered = filters === undefined ? response : await filters.filterResponse(response);
    return relay(exchange, filtered, []);
  }
  if (cached !== undefined) exchange.defer(() => cached.keep(facts));

  const preparing = transform(deps, exchange, rules, filters);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  const opening = openTurns(deps, exchange, rules, prepared);
  const { route, turns, estimate } = opening instanceof Promise ? await opening : opening;
  const calling = turns.callWithFallback();
  deps.classify?.(log);
  const first = await calling;
  reportServed(report, route, first.candidate.endpoint);
  // Each turn before its calls are run: what a filter replaces in a call is not what the tool is given.
  const turn = filters === undefined ? first : await filters.filterResponse(first);

  const { streamTransforms, choice, offered } = prepared;
  if (offered === undefined || offered.entries.length === 0)
    return relay(exchange, turn, streamTransforms, cached?.cacheWriter);
  const answered = runServerTools(turn, deps, {
    offered,
    facts,
    route,
    turns,
    generateNested: exchange.generateNested,
    choice,
    filters,
    signal: cancellation.signal,
    codec: exchange.format.serverCalls,
    estimate,
    moveReservation: (next) => reservation.move(rules.limits, next),
  });
  return relay(exchange, answered, streamTransforms, cached?.cacheWriter);
}

/**
 * Runs the filters of the caller's guardrails over the request, and gives them for what is to come. `undefined`: there are
 * none, or a judge is consulted, which reads what they have left.
 * @throws GatewayError 403 where one blocks the request; 408; 503
 */
function filterIncoming(
  deps: GenerateDeps,
  exchange: Exchange,
  rules: CallerRules,
  received: GenerationRequest,
): Promise<ContentFilters | undefined> | undefined {
  const { incoming, facts, reservation, cancellation, generateNested } = exchange;
  const { policy } = rules;
  const { log, report } = facts;
  if (incoming.nested?.isJudge === true || (!hasFilters(policy) && policy.judgeFilters.length === 0)) return undefined;
  const onBlocked = async (): Promise<void> => {
    await refuseForbidden(deps, received, report, rules);
    await reservation.takePermit(UNCOUNTED);
  };
  return (async () => {
    const filters = openContentFilters(deps, { facts, policy, cancellation, onBlocked });
    if (filters !== undefined) log.request = await filters.filterRequest(received);
    if (policy.judgeFilters.length > 0)
      await judgeRequest({
        facts,
        policy,
        decide: createDecide(deps, generateNested, 'judge'),
        timeoutMs: deps.judgeTimeoutMs,
        signal: cancellation.signal,
        onBlocked,
      });
    return filters;
  })();
}

/** A request as models are sent it. */
interface PreparedRequest extends Omit<RequestTransform, 'request'> {
  readonly request: GenerationRequest;
  readonly choice: RequestChoice;
  /** Absent: the request has no server tools. */
  readonly offered: OfferedTools | undefined;
}

/**
 * The steps that change a request before it is routed. At once where none has anything to do.
 * @throws GatewayError in place of a response; thrown or as a rejection
 */
function transform(
  deps: GenerateDeps,
  exchange: Exchange,
  rules: CallerRules,
  filters: ContentFilters | undefined,
): PreparedRequest | Promise<PreparedRequest> {
  const { incoming, facts, reservation, cancellation, generateNested, memory } = exchange;
  const { log, report } = facts;
  const defaultModel = rules.policy.defaultModel ?? deps.defaults.model;
  const filtered = withDefaultModel(log.request, defaultModel);
  const { models } = filtered.directives;

  const choice = new RequestChoice(deps, { request: filtered, rules, log, report });
  const applying = applyPlugins(deps, filtered, {
    log,
    report,
    memory,
    rules,
    cancellation,
    abilities: { generate: generateNested, choice },
    decideBy: (generate) => createDecide(deps, generate, 'judge'),
    isNested: incoming.nested !== undefined,
    isJudge: incoming.nested?.isJudge === true,
    variants: variantsOf(models, defaultModel, deps.catalog),
    endpointsOf: (of) => endpointsOf(deps, of, rules),
    async fund(nanoUsdMax) {
      await reservation.further.fund(rules.limits, nanoUsdMax);
      // Nothing is spent for a key that sends too fast.
      await reservation.takePermit(ratedBy(log, models));
    },
  });
  const isAsSent = !(applying instanceof Promise) && applying.request === filtered;
  if (isAsSent && filtered.tools.length === 0) return { ...applying, choice, offered: undefined };
  return offerTools(deps, exchange, { rules, filters, filtered, choice }, applying);
}

interface ChosenRequest {
  readonly rules: CallerRules;
  readonly filters: ContentFilters | undefined;
  /** Before plugins changed it. */
  readonly filtered: GenerationRequest;
  readonly choice: RequestChoice;
}

async function offerTools(
  deps: GenerateDeps,
  { format, facts, cancellation }: Exchange,
  { rules, filters, filtered, choice }: ChosenRequest,
  applying: RequestTransform | Promise<RequestTransform>,
): Promise<PreparedRequest> {
  const applied = await applying;
  // Plugins put in what filters have not seen: files as text, pages of the web.
  const isSeen = filters === undefined || applied.request === filtered;
  const transformed = isSeen ? applied.request : await filters.filterRequest(applied.request);

  const offering = offerServerTools(deps, transformed, {
    endpointsOf: () => endpointsOf(deps, transformed, rules),
    principal: facts.log.principal,
    cancellation,
  });
  const offered = offering && (await offering);
  if (offered === undefined) return { ...applied, request: transformed, choice, offered };
  noteMissingTools(offered, facts);
  return { ...applied, request: restoreServerCalls(offered, format.serverCalls), choice, offered };
}

/** A request whose models are known and whose money is reserved. */
interface OpenTurns {
  readonly route: Route;
  readonly turns: ModelTurns;
  readonly estimate: (of: Route) => RouteEstimate;
}

/**
 * Plans the route and reserves the money: at once where nothing is to be waited for.
 * @throws GatewayError in place of a response; thrown or as a rejection
 */
function openTurns(
  deps: GenerateDeps,
  exchange: Exchange,
  rules: CallerRules,
  { request, fitting, choice, offered }: PreparedRequest,
): OpenTurns | Promise<OpenTurns> {
  const { facts, reservation } = exchange;
  const { log, report } = facts;
  const { nested } = exchange.incoming;
  const adapt: AdaptRequest | undefined = offered && ((of, candidate) => withNativeTools(of, candidate, offered));
  const estimate = (of: Route): RouteEstimate => estimateOf(log, of, deps, adapt);
  const reserve = (route: Route): OpenTurns | Promise<OpenTurns> => {
    // Free is what a slug resolves to, however it is spelled, and whether the caller or a router chose it.
    const slugs = route.resolved.models.map(({ slug }) => slug);
    const reserving = reservation.reserve(rules.limits, () => estimate(route), ratedBy(log, slugs));
    const opened = { route, fitting, adapt, estimate };
    if (reserving === undefined) return openModelTurns(deps, exchange, rules, opened);
    return reserving.then(() => openModelTurns(deps, exchange, rules, opened));
  };
  const planned = planRoute(deps, { request, rules, report, fitting, pin: choice.pin(), nested, estimate });
  return planned instanceof Promise ? planned.then(reserve) : reserve(planned);
}

function openModelTurns(
  deps: GenerateDeps,
  exchange: Exchange,
  rules: CallerRules,
  {
    route,
    estimate,
    fitting,
    adapt,
  }: Pick<OpenTurns, 'route' | 'estimate'> & Pick<ModelTurnsInput, 'fitting' | 'adapt'>,
): OpenTurns {
  const { facts, output, reservation, cancellation } = exchange;
  const outcome = new RouteOutcome(deps, route);
  exchange.defer(() => outcome.ended(exchange.settle().record));
  const turns = new ModelTurns(deps, {
    route,
    fitting,
    adapt,
    budget: rules.isLimited ? createResponseBudget(reservation, facts.log) : undefined,
    facts,
    outcome,
    cancellation,
    reserveContinuation:
      output !== undefined && mayContinue(route, deps)
        ? (request, delivered) =>
            reserveContinuation({ route, estimate, facts, reservation, rules }, request, delivered)
        : undefined,
    wasCallerSlow: () => output?.wasCallerSlow() === true,
  });
  exchange.defer(() => turns.close());
  return { route, turns, estimate };
}

function relay(
  exchange: Exchange,
  response: UpstreamResponse,
  streamTransforms: RelayInput['streamTransforms'],
  cacheWriter?: RelayInput['cacheWriter'],
): ResponseEnding | Promise<ResponseEnding> {
  const { facts, format, writer, output } = exchange;
  const input: RelayInput = {
    facts,
    format,
    writer,
    streamTransforms,
    cacheWriter,
    identify: () => exchange.identify(),
    errorContext: () => exchange.errorContext(),
  };
  return output === undefined
    ? relayWhole(response, input)
    : relayStream(response, output, exchange.streamEncoder(), input);
}

/** Before the caller hears of the end: it may ask for the response at once. @returns whether it is kept */
function keepResponse(
  keep: KeepResponse,
  ending: ResponseEnding,
  finalUsage: FinalUsage,
  isCancelled: boolean,
): boolean | Promise<boolean> {
  const response = ending.snapshot({ ...finalUsage, isStored: true });
  return response !== undefined && keep(response, isCancelled);
}

function ratedBy({ request }: RequestFacts['log'], slugs: readonly string[]) {
  return {
    promptTokens: () => estimateRequestTokens(request),
    isFree: slugs.some((slug) => slug.endsWith(':free')),
  };
}

/** The caller's word counts before the operator's. */
function mayContinue({ plan, request }: Route, { rescue }: GenerateDeps): boolean {
  return plan.allowFallbacks && (request.directives.rescue ?? rescue);
}
