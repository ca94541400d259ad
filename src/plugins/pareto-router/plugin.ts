import type { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { CandidateModel, LeftOut, ModelChoice, RouterDecision } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { codingScoresOf } from '../../model-selection/rank/coding-scores.ts';
import { frontierOf } from '../../model-selection/rank/frontier.ts';
import { noModelLeft } from '../../model-selection/candidates/no-models.ts';
import { plainModels } from '../../model-selection/candidates/plain-models.ts';
import { formatLeftOut, rounded } from '../../model-selection/candidates/task-candidates.ts';
import { choosePareto, tiersOf, type ParetoChoice, type ParetoModel } from '../../model-selection/rank/pareto.ts';
import { assert } from '../../lib/assert.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Plugin, PluginContext } from '../contract.ts';
import { paretoRouterOptions } from './options.ts';

const ID = 'pareto-router';
const SLUG = 'service/pareto-code';
/** @spec router-25: shorter than of other sessions */
const SESSION_MS = 5 * 60_000;

type Options = z.output<typeof paretoRouterOptions>;

export const paretoRouter = {
  id: ID,
  summary: 'Chooses the cheapest model whose code is good enough, or the best below a price.',
  options: paretoRouterOptions,
  slugs: [SLUG],
  async chooseModels(request, slug, options, context) {
    const { choice } = context.abilities;
    assert(choice !== undefined, 'a router gets a model choice in its context');
    const suffixes = slug.slice(SLUG.length);
    const isNitro = suffixes.split(':').includes('nitro');
    const { models, leftOut } = choice.candidatePool(request);
    const input = { priceMax: options.max_price, scoreMin: options.min_coding_score, fastest: isNitro };
    const pins = pinOf(request, input);
    const remembered = pins && (await choice.remembered(pins.what));
    let pool = fieldOf(plainModels(models), options, choice, isNitro);
    let found = choosePareto(pool, { ...input, remembered });
    if (found.chosen.length === 0) {
      // A cheaper variant is better than no model.
      pool = fieldOf(models, options, choice, isNitro);
      found = choosePareto(pool, { ...input, remembered });
    }
    const [first] = found.chosen;
    if (first === undefined) throw absent(slug, options, pool, leftOut);
    notify(context, choice, { found, first, pool, leftOut, options, isNitro, pins });
    return found.chosen.map((model) => model.slug + suffixes);
  },
} satisfies Plugin<typeof paretoRouterOptions>;

function fieldOf(
  models: readonly CandidateModel[],
  options: Options,
  choice: ModelChoice,
  isNitro: boolean,
): readonly ParetoModel[] {
  const scoreOf = scoresOf(choice);
  const scored = models.filter((model) => scoreOf(model) !== undefined);
  // Without any test results the price alone decides.
  return (scored.length > 0 ? scored : models).map((model) => ({
    slug: model.slug,
    score: scoreOf(model) ?? 0,
    price: priceOf(model, options, choice),
    ...(isNitro && { throughput: model.throughput() }),
  }));
}

/** Reading through all tests takes a while, and they change with the catalog only. */
const LINKED = new WeakMap<object, ReadonlyMap<string, number>>();

function scoresOf(choice: Pick<ModelChoice, 'tested'>): (model: CandidateModel) => number | undefined {
  const tested = choice.tested();
  const linked = LINKED.get(tested) ?? codingScoresOf(tested);
  LINKED.set(tested, linked);
  return ({ slug, coding }) => coding ?? linked.get(slug.replace(/:.*/, ''));
}

function priceOf(model: CandidateModel, { price_source: source }: Options, choice: ModelChoice): number {
  const paid = source === 'weighted_avg' ? choice.paidPromptPrice(model.slug) : undefined;
  return paid ?? model.promptPrice;
}

/** Only a named session is pinned, and only while its options stay the same. @spec router-25 */
function pinOf({ directives, settings }: GenerationRequest, input: object): RouterDecision['pins'] {
  if ((directives.sessionId ?? settings.promptCacheKey ?? '') === '') return undefined;
  return { what: `${ID} ${JSON.stringify(input)}`, idleMs: SESSION_MS };
}

interface ChoiceDetails {
  readonly found: ParetoChoice;
  readonly first: ParetoModel;
  readonly pool: readonly ParetoModel[];
  readonly leftOut: readonly LeftOut[];
  readonly options: Options;
  readonly isNitro: boolean;
  readonly pins: RouterDecision['pins'];
}

function notify(context: PluginContext, choice: ModelChoice, reported: ChoiceDetails): void {
  const { found, first, pool, options, isNitro, pins } = reported;
  const chosen = found.chosen.map(({ slug }) => slug);
  const speeds = found.chosen.flatMap(({ throughput }) => throughput ?? []);
  const params: JsonObject = {
    ...(found.floor !== undefined && { quality_floor: found.floor }),
    ...(isNitro && speeds.length > 0 && { throughput_floor: Math.min(...speeds) }),
  };
  const best = pool.reduce((top, one) => (one.score > top.score ? one : top));
  choice.decided({
    router: ID,
    strategy: 'pareto',
    chosen,
    params,
    comparedWith: best.slug,
    ...(pins !== undefined && { pins }),
    details: () => formatDetails(reported),
  });
  context.note({
    type: 'plugin',
    name: ID,
    summary: summaryOf(first, found, options),
    data: {
      chosen,
      ...(found.tier !== undefined && { tier: found.tier }),
      ...(found.tierMoved && { tier_moved: true }),
      ...(options.max_price !== undefined && { max_price: options.max_price }),
      price_source: options.price_source ?? 'prompt',
      price: first.price,
      coding_score: rounded(first.score),
      ...(found.isRemembered && { session: true }),
    },
  });
}

function summaryOf({ slug }: ParetoModel, { tier }: ParetoChoice, { max_price: priceMax }: Options): string {
  return tier === undefined ? `Chose ${slug} under ${priceMax} USD a million` : `Chose ${slug} of the ${tier} tier`;
}

/** The whole pool, best first, as the choice saw it. */
function formatDetails({ pool, leftOut }: ChoiceDetails): JsonObject {
  const frontier = new Set(frontierOf(pool));
  const tiers = Object.entries(tiersOf(pool));
  return {
    ranking: pool
      .toSorted((left, right) => right.score - left.score || left.price - right.price)
      .map((model) => ({
        model: model.slug,
        coding_score: rounded(model.score),
        price: model.price,
        on_frontier: frontier.has(model),
        tier: tiers.find(([, models]) => models.includes(model))?.[0] ?? null,
        ...(model.throughput !== undefined && { throughput: model.throughput }),
      })),
    left_out: formatLeftOut(leftOut),
  };
}

/** @spec router-20: no candidate satisfies `max_price` */
function absent(
  slug: string,
  { max_price: priceMax }: Options,
  pool: readonly ParetoModel[],
  leftOut: readonly LeftOut[],
): GatewayError {
  if (priceMax === undefined || pool.length === 0) return noModelLeft(slug, leftOut);
  const cheapest = Math.min(...pool.map(({ price }) => price));
  return new GatewayError(
    'not_found',
    `No model that could serve this request costs at most ${priceMax} USD per million input tokens (max_price); the cheapest costs ${cheapest}.`,
    {
      availability: {
        code: 'constraint_filtered',
        retryable: false,
        requestedModels: [slug],
        excludedBy: ['max_price'],
        constraint: { field: 'max_price', detail: `the cheapest costs ${cheapest}` },
      },
    },
  );
}
