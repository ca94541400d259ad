import type { Wish } from '../accounts/ledger.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { AttemptParts } from './attempt.ts';
import type { CallerRules } from './caller-rules.ts';
import { chooseRoute, endpointsOf, reportRoute, type Route, type RouteParts } from './choose-route.ts';
import { withinBudget, type Inside } from './inner-generation.ts';
import { offerServerTools, type OfferedTools, type OfferParts } from './offer-server-tools.ts';
import type { AnswerContext } from './open-answer.ts';
import { variantsOf } from './resolve-models.ts';
import { restoreServerCalls } from './restore-server-calls.ts';
import { revise, type ReviseParts, type Revision } from './revise.ts';
import { nothingFits } from './route-errors.ts';
import { wishOf } from './route-wish.ts';
import type { Till } from './till.ts';

export interface PrepareParts
  extends ReviseParts, OfferParts, Omit<RouteParts, 'formats'>, Pick<AttemptParts, 'formats' | 'providers'> {}

export interface PrepareQuestion {
  readonly context: AnswerContext;
  readonly rules: CallerRules;
  readonly till: Till;
  /** Aborts when nobody waits for the answer any more, or it took too long. */
  readonly signal: AbortSignal;
  /** Asks a model inside this request. */
  readonly inner: InnerGenerate;
  /** Set where it serves another request. */
  readonly inside: Inside | undefined;
}

/** A request that may go upstream. */
export interface Prepared {
  readonly revision: Revision;
  readonly offered: OfferedTools | undefined;
  readonly route: Route;
  readonly wish: (route: Route) => Wish;
}

/**
 * What plugins make of the request, the tools it offers, who may serve it, and the caller's money for that.
 * @throws GatewayError 400, 402, 403, 404, 429
 */
export async function prepare(
  parts: PrepareParts,
  { context: { record, format }, rules, till, signal, inner, inside }: PrepareQuestion,
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
  parts: PrepareParts,
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
