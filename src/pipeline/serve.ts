import type { Wish } from '../accounts/ledger.ts';
import type { Principal } from '../accounts/principal.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { EndpointStats } from '../routing/stats.ts';
import type { ClientFormat } from '../wire/format.ts';
import { answerWithTools, type ToolParts } from './answer-with-tools.ts';
import { longestGoOn } from './ask-to-go-on.ts';
import type { AttemptsParts, Committed } from './attempts.ts';
import { readCallerRules, type CallerRules, type RulesParts } from './caller-rules.ts';
import { chooseRoute, endpointsOf, reportRoute, type Route, type RouteParts } from './choose-route.ts';
import { withinBudget, type Inside } from './inner-generation.ts';
import { createInspection, type Inspection, type InspectParts } from './inspect.ts';
import { withNativeTools } from './native-tools.ts';
import { createOutcomeWatch, type OutcomeWatch } from './note-outcome.ts';
import { offerServerTools, type OfferedTools, type OfferParts } from './offer-server-tools.ts';
import { relayStream, relayWhole, type RelayContext } from './relay.ts';
import { variantsOf } from './resolve-models.ts';
import { lookUpAnswer, type CacheHit, type ResponseCacheParts } from './response-cache.ts';
import { restoreServerCalls } from './restore-server-calls.ts';
import { revise, type ReviseParts, type Revision } from './revise.ts';
import { nothingFits } from './route-errors.ts';
import { wishOf } from './route-wish.ts';
import type { StreamOutput } from './stream-output.ts';
import type { Till, TillParts } from './till.ts';
import { openTurns, type Turns, type TurnsQuestion } from './turns.ts';

export interface ServeParts
  extends
    AttemptsParts,
    Omit<RulesParts, 'ledger'>,
    InspectParts,
    ReviseParts,
    OfferParts,
    TillParts,
    ToolParts,
    Omit<RouteParts, 'memory' | 'formats'> {
  readonly stats: EndpointStats;
  readonly responseCache: ResponseCacheParts;
  /** Whether another endpoint goes on with a stream that breaks off, where the caller does not say. */
  readonly rescue: boolean;
}

/** How an answer goes to the caller, but for what plugins make of it. */
export type AnswerContext = Omit<RelayContext, 'revisers'>;

export interface ServeQuestion {
  readonly asker: Principal;
  readonly context: AnswerContext;
  /** Absent: the caller gets the whole answer at once. */
  readonly output: StreamOutput | undefined;
  readonly till: Till;
  /** Aborts when nobody waits for the answer any more, or it took too long. */
  readonly signal: AbortSignal;
  /** Asks a model inside this request. */
  readonly inner: InnerGenerate;
  /** Set where it serves another request. */
  readonly inside: Inside | undefined;
}

/** What stays open while the answer goes out; whoever serves a request ends it. */
export interface Serving {
  turns?: Turns;
  outcome?: OutcomeWatch;
}

/**
 * The path of a request from who may ask to the last frame before its end.
 * @param serving is filled as the parts of it open
 * @throws GatewayError whatever the caller is to be told in place of an answer
 */
export async function serve(parts: ServeParts, question: ServeQuestion, serving: Serving): Promise<void> {
  const { asker, context, output, till, signal } = question;
  const { record, caller } = context;
  const rules = await readCallerRules(parts, asker);
  await parts.ledger.admit(asker, rules.limits);
  const inspection = createInspection(parts, { record, policy: rules.policy, signal });
  record.request = await inspection.request(record.request, () => till.pass(NOTHING_ASKED));
  const cached = await lookUpAnswer(parts.responseCache, record, rules);
  if (cached !== undefined) caller.announce(cached.headers);
  if (cached?.hit !== undefined) {
    await till.pass(NOTHING_ASKED);
    await repeat(cached.hit, inspection, output, context);
    return;
  }
  const prepared = await prepare(parts, question, rules);
  const answer = await openAnswer(parts, question, { ...prepared, rules, inspection }, serving);
  const { revisers } = prepared.revision;
  const keeper = cached?.keeper;
  const relayed = { ...context, revisers, ...(keeper !== undefined && { keeper }) };
  const inspected = await inspection.answer(answer);
  await (output === undefined ? relayWhole(inspected, relayed) : relayStream(inspected, output, relayed));
  cached?.keep(record);
}

interface Prepared {
  readonly revision: Revision;
  readonly offered: OfferedTools | undefined;
  readonly route: Route;
  readonly wish: (route: Route) => Wish;
}

/** What plugins make of the request, the tools it offers, who may serve it, and the caller's money for that. */
async function prepare(
  parts: ServeParts,
  { context: { record, format }, till, signal, inner, inside }: ServeQuestion,
  rules: CallerRules,
): Promise<Prepared> {
  const { request } = record;
  const model = rules.policy.defaultModel ?? parts.defaults.model;
  const revision = await revise(parts, request, {
    record,
    rules,
    signal,
    abilities: { generate: inner },
    variants: variantsOf(request.directives.models, model, parts.catalog),
    endpointsOf: (of) => endpointsOf(parts, of, rules),
    fund: (nanoUsdMax) => till.further.fund(rules.limits, nanoUsdMax),
  });
  const offered = offerServerTools(parts, revision.request, () => endpointsOf(parts, revision.request, rules));
  const wish = (of: Route): Wish => wishOf(record, of, parts);
  const found = await findRoute(parts, record, rules, withOffered(revision, offered, format));
  const route = withinBudget(found, inside?.budgetNanoUsd, wish);
  await till.reserve(rules.limits, () => wish(route));
  await till.pass({
    promptTokens: () => estimateRequestTokens(record.request),
    // Free is what a slug comes to, however it is spelled and whoever chose it.
    isFree: route.resolved.models.some(({ slug }) => slug.endsWith(':free')),
  });
  return { revision, offered, route, wish };
}

/** Functions stand for server tools, and calls of earlier answers are turns again. */
function withOffered(revision: Revision, offered: OfferedTools | undefined, { serverCalls }: ClientFormat): Revision {
  if (offered === undefined) return revision;
  const names = new Set(offered.entries.map(({ name }) => name));
  return { ...revision, request: restoreServerCalls(offered.request, serverCalls, names) };
}

/** @throws GatewayError 400 or 404 */
async function findRoute(
  parts: ServeParts,
  { report }: AnswerContext['record'],
  rules: CallerRules,
  { request, fitting }: Revision,
): Promise<Route> {
  const route = await chooseRoute(parts, request, rules, fitting);
  reportRoute(report, route);
  const { plan } = route;
  const slugs = request.directives.models;
  if (plan.candidates.length === 0 && plan.cooling.length === 0)
    throw nothingFits(plan.considered, slugs.length > 0 ? slugs : [report.requested], fitting);
  return route;
}

/** Begins with the first turn; server tools may ask for more. */
async function openAnswer(
  parts: ServeParts,
  { context: { record, format }, output, till, signal, inner }: ServeQuestion,
  {
    revision,
    offered,
    route,
    wish,
    rules,
    inspection,
  }: Prepared & { readonly rules: CallerRules; readonly inspection: Inspection },
  serving: Serving,
): Promise<Committed> {
  const outcome = (serving.outcome = createOutcomeWatch(parts, route));
  const turns = (serving.turns = openTurns(parts, {
    route,
    fitting: revision.fitting,
    // Tools that an endpoint runs itself differ from one to the other.
    adapt: offered && ((request, candidate) => withNativeTools(request, candidate, offered)),
    record,
    outcome,
    signal,
    rescue: output !== undefined && mayRescue(route, parts) ? rescueBy(till, rules, route, wish) : undefined,
    keptUsWaiting: () => output?.keptUsWaiting() === true,
  }));
  const first = await turns.begin();
  return answerWithTools(first, parts, {
    offered,
    record,
    route,
    turns,
    inner,
    inspection,
    signal,
    words: format.serverCalls,
    wish,
    moveHold: (next) => till.move(rules.limits, next),
  });
}

/** The caller's word counts before the operator's. */
function mayRescue({ plan, request }: Route, { rescue }: ServeParts): boolean {
  return plan.allowFallbacks && (request.directives.rescue ?? rescue);
}

/** Whoever goes on reads what the caller has, and may have to say it all again. */
function rescueBy(
  { further }: Till,
  { limits }: CallerRules,
  route: Route,
  wish: (route: Route) => Wish,
): TurnsQuestion['rescue'] {
  return (request, delivered) =>
    further.add(limits, () => wish({ ...route, request: longestGoOn(request, delivered) }));
}

/** An answer that is given again costs and counts nothing, but it is a request. */
const NOTHING_ASKED = { promptTokens: () => 1, isFree: false } as const;

async function repeat(
  { sourceId, endpoint, committed }: CacheHit,
  inspection: Inspection,
  output: StreamOutput | undefined,
  context: AnswerContext,
): Promise<void> {
  context.record.repeat(sourceId, endpoint);
  const relayed = { ...context, revisers: [] };
  const answer = await inspection.answer(committed);
  await (output === undefined ? relayWhole(answer, relayed) : relayStream(answer, output, relayed));
}
