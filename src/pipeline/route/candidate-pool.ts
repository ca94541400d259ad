import { estimateRequestTokens } from '../../canonical/estimate-tokens.ts';
import type { CandidateModel, LeftOut, CandidatePool } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Catalog, Endpoint, Model } from '../../catalog/model.ts';
import type { PriceTable } from '../../catalog/price.ts';
import { abilityOf, bestScores } from '../../catalog/scores.ts';
import { endpointName } from '../../routing/endpoint-name.ts';
import type { EndpointHealth } from '../../routing/health.ts';
import { considerModel } from '../../routing/plan.ts';
import type { Considered, PlanInput } from '../../routing/route-plan.ts';
import { matchesProvider } from '../../routing/preferences.ts';
import { needsOf, type RequestNeeds } from '../../routing/request-needs.ts';
import type { EndpointStats } from '../../routing/stats.ts';

export interface CandidatePoolDeps {
  readonly catalog: Pick<Catalog, 'list'>;
  readonly stats: Pick<EndpointStats, 'routing'>;
  readonly formats: PlanInput['formats'];
}

/** The rules of a plan, without its models. */
export type CandidatePoolRules = Pick<PlanInput, 'preferences' | 'permissions' | 'credentials'>;

/**
 * Finds every model that may answer a request, by the rules of route plans. A model that a router chooses must support the
 * whole request, while a model that the caller named may lack some of it; the health of endpoints does not count.
 */
export function openCandidatePool(
  { catalog, stats, formats }: CandidatePoolDeps,
  request: GenerationRequest,
  rules: CandidatePoolRules,
): CandidatePool {
  const input: CandidatePoolInput = {
    ...rules,
    formats,
    mustBePriced: true,
    health: () => HEALTHY,
    random: 0,
  };
  const models = catalog.list();
  const real = models.filter(({ simulated }) => simulated !== true);
  // What stands in for models answers for all of them, and the first of it like the simplest.
  const isEmpty = real.every(({ endpoints }) => endpoints.every((endpoint) => lacksKey(endpoint, rules)));
  const requested = isEmpty ? models.filter(({ simulated }) => simulated === true).slice(0, 1) : real;
  const needs = strictNeeds(request, rules);
  const found: Found[] = [];
  const leftOut: LeftOut[] = [];
  for (const model of requested) {
    const one = considerOne(model, needs, input, stats);
    if ('reason' in one) leftOut.push(one);
    else found.push(one);
  }
  return keepRoomy(found, request, leftOut);
}

type CandidatePoolInput = Omit<PlanInput, 'models' | 'request'>;

const HEALTHY: EndpointHealth = { rank: 0, open: false, probeDue: false };

interface Found {
  readonly model: CandidateModel;
  /** Tokens that its largest endpoint takes. */
  readonly roomTokens: number;
}

function strictNeeds(request: GenerationRequest, { preferences }: CandidatePoolRules): RequestNeeds {
  const needs = needsOf(request, preferences.requireParameters);
  return { ...needs, parameters: [...new Set([...needs.parameters, ...needs.preferred])] };
}

function lacksKey(endpoint: Endpoint, { credentials }: CandidatePoolRules): boolean {
  return endpoint.lacksCredentials === true && (credentials?.(endpoint).length ?? 0) === 0;
}

function considerOne(
  model: Model,
  needs: RequestNeeds,
  input: CandidatePoolInput,
  stats: CandidatePoolDeps['stats'],
): Found | LeftOut {
  const { slug } = model;
  if (model.unreviewed === true) return { slug, reason: 'not_reviewed' };
  if (model.outputModalities?.includes('text') === false) return { slug, reason: 'no_text' };
  const price = listPriceOf(model);
  if (price === undefined) return { slug, reason: 'price_unknown' };
  const considered: Considered[] = [];
  const entries = considerModel(model, needs, input, considered).filter(({ candidate: { endpoint } }) =>
    mayServe(endpoint, input.preferences),
  );
  if (entries.length === 0) return reasonOf(slug, considered);
  const endpoints = entries.map(({ candidate }) => candidate.endpoint);
  const roomTokens = Math.max(...endpoints.map(({ contextTokensMax = Infinity }) => contextTokensMax));
  return { model: candidateModelOf(model, price, endpoints, stats), roomTokens };
}

/** Without fallbacks, an order is all that there is. */
function mayServe(endpoint: Endpoint, { allowFallbacks, order = [] }: CandidatePoolRules['preferences']): boolean {
  return allowFallbacks || order.length === 0 || order.some((name) => matchesProvider(name, endpoint));
}

/** An endpoint without credentials is the weakest reason: it could not have been called. */
function reasonOf(slug: string, considered: readonly Considered[]): LeftOut {
  const excluded = considered.filter(({ exclusion }) => exclusion !== undefined);
  const { exclusion = 'allow_fallbacks', lacks } =
    excluded.find((one) => one.exclusion !== 'credentials' && one.exclusion !== 'service_tier') ?? excluded[0] ?? {};
  return { slug, reason: exclusion, ...(lacks !== undefined && { lacks }) };
}

/** Where some have room for the prompt and the longest response that the request allows, the others are left out. */
function keepRoomy(found: readonly Found[], request: GenerationRequest, leftOut: readonly LeftOut[]): CandidatePool {
  const tokens = estimateRequestTokens(request) + (request.settings.maxTokens ?? 0);
  const roomy = found.filter(({ roomTokens }) => roomTokens >= tokens);
  const kept = roomy.length === 0 ? found : roomy;
  const narrow = kept === found ? [] : found.filter(({ roomTokens }) => roomTokens < tokens);
  return {
    models: kept.map(({ model }) => model),
    leftOut: [...leftOut, ...narrow.map(({ model: { slug } }) => ({ slug, reason: 'context_length' }))],
  };
}

/** What of a model stays as it is until the catalog changes. */
interface Facts extends Omit<CandidateModel, 'throughput' | 'promptPrice' | 'completionPrice' | 'isFree'> {}

interface ModelPrice {
  readonly promptPrice: number;
  readonly completionPrice: number;
  readonly isFree: boolean;
}

const FACTS = new WeakMap<Model, Facts>();
const PRICES = new WeakMap<Model, ModelPrice | 'unknown'>();

function candidateModelOf(
  model: Model,
  price: ModelPrice,
  endpoints: readonly Endpoint[],
  stats: CandidatePoolDeps['stats'],
): CandidateModel {
  const facts = FACTS.get(model) ?? factsOf(model);
  FACTS.set(model, facts);
  return { ...facts, ...price, throughput: () => fastest(endpoints, stats) };
}

function factsOf(model: Model): Facts {
  const { slug, name, family, contextTokensMax, released } = model;
  const [coding, intelligence, agentic] = (['coding', 'intelligence', 'agentic'] as const).map((ability) =>
    abilityOf(model, ability),
  );
  return {
    slug,
    name,
    ...(family !== undefined && { family }),
    ...(contextTokensMax !== undefined && { contextTokensMax }),
    ...(released !== undefined && { released }),
    scores: new Map(bestScores(model).map(({ metric, score }) => [metric, score])),
    ...(coding !== undefined && { coding }),
    ...(intelligence !== undefined && { intelligence }),
    ...(agentic !== undefined && { agentic }),
  };
}

const PICO_PER_TOKEN_OF_USD_PER_MILLION = 1e6;

function listPriceOf(model: Model): ModelPrice | undefined {
  const known = PRICES.get(model) ?? findListPrice(model) ?? 'unknown';
  PRICES.set(model, known);
  return known === 'unknown' ? undefined : known;
}

function findListPrice(model: Model): ModelPrice | undefined {
  const price = priceTableOf(model);
  if (price === undefined) return undefined;
  return {
    promptPrice: price.prompt / PICO_PER_TOKEN_OF_USD_PER_MILLION,
    completionPrice: price.completion / PICO_PER_TOKEN_OF_USD_PER_MILLION,
    isFree: price.prompt === 0 && price.completion === 0 && (price.request ?? 0) === 0,
  };
}

/** The author's own price; else the middle one of those that the gateway can pay. @spec router-23 */
export function priceTableOf({ slug, endpoints }: Model): PriceTable | undefined {
  const standard = endpoints.filter(({ serviceTier, price }) => serviceTier === undefined && price !== undefined);
  const author = slug.slice(0, slug.indexOf('/')).replaceAll('-', '');
  const own = standard.find(({ provider }) => provider.replaceAll('-', '') === author);
  const usable = standard.filter(({ lacksCredentials }) => lacksCredentials !== true);
  const sorted = (usable.length > 0 ? usable : standard)
    .map(({ price }) => price)
    .filter((price) => price !== undefined)
    .toSorted((left, right) => left.prompt - right.prompt);
  return own?.price ?? sorted[Math.floor((sorted.length - 1) / 2)];
}

function fastest(endpoints: readonly Endpoint[], stats: CandidatePoolDeps['stats']): number | undefined {
  const speeds = endpoints.flatMap((endpoint) => stats.routing(endpointName(endpoint))?.throughput()?.p50 ?? []);
  return speeds.length === 0 ? undefined : Math.max(...speeds);
}
