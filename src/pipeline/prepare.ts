import type { Wish } from '../accounts/ledger.ts';
import { estimateRequestTokens } from '../canonical/estimate-tokens.ts';
import type { InnerGenerate } from '../canonical/inner-generation.ts';
import type { ClientFormat } from '../wire/format.ts';
import type { AttemptParts } from './attempt.ts';
import type { AttemptsQuestion } from './attempts.ts';
import type { CallerRules } from './caller-rules.ts';
import { chooseRoute, endpointsOf, reportRoute, type Route, type RouteParts } from './choose-route.ts';
import type { Inspection } from './inspect.ts';
import { withinBudget, withinEndpoints, type Inside } from './inner-generation.ts';
import { createModelChoice, type ChoiceParts, type RequestChoice } from './model-choice.ts';
import { withSilence } from './must-reason.ts';
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
  /** Looks through what it has not seen. Absent: the caller has no filters. */
  readonly inspection: Inspection | undefined;
}

/** A request that may go upstream. */
export interface Prepared {
  readonly revision: Revision;
  readonly choice: RequestChoice;
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
  { context: { record, format }, rules, till, signal, inner, inside, inspection }: PrepareQuestion,
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
  const isSeen = revised.request === request || inspection === undefined;
  // What plugins put in: files as text, pages of the web.
  const revision = isSeen ? revised : { ...revised, request: await inspection.request(revised.request) };
  const offered = await offerServerTools(parts, revision.request, {
    endpointsOf: () => endpointsOf(parts, revision.request, rules),
    asker: record.asker,
    signal,
  });
  if (offered !== undefined && offered.warnings.length > 0) noteMissing(offered, record);
  const adapt: Prepared['adapt'] = offered && ((of, candidate) => withNativeTools(of, candidate, offered));
  const wish = (of: Route): Wish => wishOf(record, of, parts, adapt);
  const lowered = withOffered(revision, offered, format);
  const found = await chooseRoute(parts, lowered.request, rules, { fitting: lowered.fitting, hold: choice.hold() });
  reportRoute(record.report, found);
  refuseEmpty(found, lowered, record.report.requested);
  const heard = withSilence(found, record.report, inside !== undefined);
  const route = inside === undefined ? heard : withinBudget(withinEndpoints(heard), inside.budgetNanoUsd, wish);
  // Free is what a slug comes to, however it is spelled and whoever chose it.
  const slugs = route.resolved.models.map(({ slug }) => slug);
  await till.enter(rules.limits, () => wish(route), ratedBy(record, slugs));
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

/** @throws GatewayError 404 when nobody may serve the request */
function refuseEmpty({ plan }: Route, { request, fitting }: Revision, requested: string): void {
  const slugs = request.directives.models;
  if (plan.candidates.length === 0 && plan.cooling.length === 0)
    throw nothingFits(plan.considered, slugs.length > 0 ? slugs : [requested], fitting);
}
