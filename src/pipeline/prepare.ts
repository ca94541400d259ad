import type { GenerationRequest } from '../canonical/request.ts';
import type { Wish } from '../accounts/ledger.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { ModelChoice } from '../canonical/model-choice.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { AttemptParts } from './attempt.ts';
import type { AttemptsQuestion } from './attempts.ts';
import type { CallerRules } from './caller-rules.ts';
import { chooseRoute, endpointsOf, reportRoute, type Route, type RouteParts } from './choose-route.ts';
import { withinBudget, withinEndpoints, type Inside } from './inner-generation.ts';
import { createModelChoice, type ChoiceParts } from './model-choice.ts';
import { withNativeTools } from './native-tools.ts';
import { offerServerTools, type OfferedTools, type OfferParts } from './offer-server-tools.ts';
import type { AnswerContext } from './open-answer.ts';
import { variantsOf, withDefaultModel } from './resolve-models.ts';
import { restoreServerCalls } from './restore-server-calls.ts';
import { revise, type ReviseParts, type Revision } from './revise.ts';
import { nothingFits } from './route-errors.ts';
import { wishOf } from './route-wish.ts';
import type { Till } from './till.ts';

export interface PrepareParts
  extends
    ReviseParts,
    OfferParts,
    Omit<RouteParts, 'formats'>,
    Pick<AttemptParts, 'formats' | 'providers'>,
    Pick<ChoiceParts, 'routers'> {}

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
  /** Has filters look through what they have not seen. @throws GatewayError 403 */
  readonly inspect: (request: GenerationRequest) => Promise<GenerationRequest>;
}

/** A request that may go upstream. */
export interface Prepared {
  readonly revision: Revision;
  readonly choice: ModelChoice;
  readonly offered: OfferedTools | undefined;
  /** Tools that an endpoint runs itself differ from one to the other. */
  readonly adapt: AttemptsQuestion['adapt'];
  readonly route: Route;
  readonly wish: (route: Route) => Wish;
}

/**
 * What plugins make of the request, the tools it offers, who may serve it, and the caller's money for that.
 * @throws GatewayError 400, 402, 403, 404, 429
 */
export async function prepare(
  parts: PrepareParts,
  { context: { record, format }, rules, till, signal, inner, inside, inspect }: PrepareQuestion,
): Promise<Prepared> {
  const model = rules.policy.defaultModel ?? parts.defaults.model;
  const request = withDefaultModel(record.request, model);
  const choice = createModelChoice(parts, { request, rules, record });
  const revised = await revise(parts, request, {
    record,
    rules,
    signal,
    abilities: { generate: inner, choice },
    isInside: inside !== undefined,
    variants: variantsOf(request.directives.models, model, parts.catalog),
    endpointsOf: (of) => endpointsOf(parts, of, rules),
    async fund(nanoUsdMax) {
      await till.further.fund(rules.limits, nanoUsdMax);
      // Nothing is spent for whoever asks too fast.
      await till.pass(ratedBy(record, request.directives.models));
    },
  });
  // What plugins put in: files as text, pages of the web.
  const revision = revised.request === request ? revised : { ...revised, request: await inspect(revised.request) };
  const offered = await offerServerTools(parts, revision.request, {
    endpointsOf: () => endpointsOf(parts, revision.request, rules),
    asker: record.asker,
    signal,
  });
  if (offered !== undefined && offered.warnings.length > 0) noteMissing(offered, record);
  const adapt: Prepared['adapt'] = offered && ((of, candidate) => withNativeTools(of, candidate, offered));
  const wish = (of: Route): Wish => wishOf(record, of, parts, adapt);
  const found = await findRoute(parts, record, rules, withOffered(revision, offered, format));
  const route = inside === undefined ? found : withinBudget(withinEndpoints(found), inside.budgetNanoUsd, wish);
  await till.reserve(rules.limits, () => wish(route));
  // Free is what a slug comes to, however it is spelled and whoever chose it.
  const slugs = route.resolved.models.map(({ slug }) => slug);
  await till.pass(ratedBy(record, slugs));
  return { revision, choice, offered, adapt, route, wish };
}

function ratedBy({ request }: AnswerContext['record'], slugs: readonly string[]): Parameters<Till['pass']>[0] {
  return {
    promptTokens: () => estimateRequestTokens(request),
    isFree: slugs.some((slug) => slug.endsWith(':free')),
  };
}

/** The caller asked for tools that the model cannot call: the log says so, and the metadata. */
function noteMissing({ warnings }: OfferedTools, record: AnswerContext['record']): void {
  record.warn(warnings);
  const missing = warnings.map(({ path, message }) => ({ path, reason: message }));
  record.report.pipeline.push({
    type: 'server_tools',
    name: 'tools-left-out',
    summary: missing.map(({ path, reason }) => `${path}: ${reason}`).join(' '),
    data: { left_out: missing },
  });
}

/** Functions stand for server tools, and calls of earlier answers are turns again. */
function withOffered(revision: Revision, offered: OfferedTools | undefined, { serverCalls }: ClientFormat): Revision {
  if (offered === undefined) return revision;
  const tools = new Map(offered.entries.map(({ name, tool }) => [name, tool]));
  return { ...revision, request: restoreServerCalls(offered.request, serverCalls, tools) };
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
