import type { z } from 'zod';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { FieldModel, LeftOut, ModelChoice, RouterDecision } from '../../canonical/model-choice.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { codingScoresOf } from '../../choosing/coding-scores.ts';
import { frontierOf } from '../../choosing/frontier.ts';
import { nobodyLeft } from '../../choosing/no-models.ts';
import { plainModels } from '../../choosing/plain-models.ts';
import { drawLeftOut, rounded } from '../../choosing/task-field.ts';
import { choosePareto, tiersOf, type ParetoChoice, type ParetoModel } from '../../choosing/pareto.ts';
import { assert } from '../../lib/assert.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Plugin, PluginContext } from '../contract.ts';
import { paretoRouterOptions } from './options.ts';

const ID = 'pareto-router';
const SLUG = 'service/pareto-code';
/** @source generation.md 3.6: shorter than of other sessions */
const SESSION_MS = 5 * 60_000;

type Options = z.output<typeof paretoRouterOptions>;

export const paretoRouter = {
  id: ID,
  options: paretoRouterOptions,
  slugs: [SLUG],
  async chooseModels(request, slug, options, context) {
    const { choice } = context.abilities;
    assert(choice !== undefined, 'whoever chooses models is given what to choose by');
    const suffixes = slug.slice(SLUG.length);
    const isNitro = suffixes.split(':').includes('nitro');
    const { models, leftOut } = choice.field(request);
    const wish = { priceMax: options.max_price, scoreMin: options.min_coding_score, fastest: isNitro };
    const holds = holdOf(request, wish);
    const remembered = holds && (await choice.remembered(holds.what));
    let field = fieldOf(plainModels(models), options, choice, isNitro);
    let found = choosePareto(field, { ...wish, remembered });
    if (found.chosen.length === 0) {
      // A variant for less is better than nobody.
      field = fieldOf(models, options, choice, isNitro);
      found = choosePareto(field, { ...wish, remembered });
    }
    const [first] = found.chosen;
    if (first === undefined) throw nobody(slug, options, field, leftOut);
    tell(context, choice, { found, first, field, leftOut, options, isNitro, holds });
    return found.chosen.map((model) => model.slug + suffixes);
  },
} satisfies Plugin<typeof paretoRouterOptions>;

function fieldOf(
  models: readonly FieldModel[],
  options: Options,
  choice: ModelChoice,
  isNitro: boolean,
): readonly ParetoModel[] {
  const scoreOf = scoresOf(choice);
  const scored = models.filter((model) => scoreOf(model) !== undefined);
  // Where nobody was tested, the price alone decides.
  return (scored.length > 0 ? scored : models).map((model) => ({
    slug: model.slug,
    score: scoreOf(model) ?? 0,
    price: priceOf(model, options, choice),
    ...(isNitro && { throughput: model.throughput() }),
  }));
}

/** Reading through all tests takes a while, and they change with the catalog only. */
const LINKED = new WeakMap<object, ReadonlyMap<string, number>>();

function scoresOf(choice: Pick<ModelChoice, 'tested'>): (model: FieldModel) => number | undefined {
  const tested = choice.tested();
  const linked = LINKED.get(tested) ?? codingScoresOf(tested);
  LINKED.set(tested, linked);
  return ({ slug, coding }) => coding ?? linked.get(slug.replace(/:.*/, ''));
}

function priceOf(model: FieldModel, { price_source: source }: Options, choice: ModelChoice): number {
  const paid = source === 'weighted_avg' ? choice.paidPromptPrice(model.slug) : undefined;
  return paid ?? model.promptPrice;
}

/** Only a session that the caller names is held, and only as long as it asks for the same. @source generation.md 4.8 */
function holdOf({ directives, settings }: GenerationRequest, wish: object): RouterDecision['holds'] {
  if ((directives.sessionId ?? settings.promptCacheKey ?? '') === '') return undefined;
  return { what: `${ID} ${JSON.stringify(wish)}`, idleMs: SESSION_MS };
}

interface Told {
  readonly found: ParetoChoice;
  readonly first: ParetoModel;
  readonly field: readonly ParetoModel[];
  readonly leftOut: readonly LeftOut[];
  readonly options: Options;
  readonly isNitro: boolean;
  readonly holds: RouterDecision['holds'];
}

function tell(context: PluginContext, choice: ModelChoice, told: Told): void {
  const { found, first, field, options, isNitro, holds } = told;
  const chosen = found.chosen.map(({ slug }) => slug);
  const speeds = found.chosen.flatMap(({ throughput }) => throughput ?? []);
  const params: JsonObject = {
    ...(found.floor !== undefined && { quality_floor: found.floor }),
    ...(isNitro && speeds.length > 0 && { throughput_floor: Math.min(...speeds) }),
  };
  const best = field.reduce((top, one) => (one.score > top.score ? one : top));
  choice.decided({
    router: ID,
    strategy: 'pareto',
    chosen,
    params,
    comparedWith: best.slug,
    ...(holds !== undefined && { holds }),
    details: () => drawDetails(told),
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

/** The whole field, best first, as the choice saw it. */
function drawDetails({ field, leftOut }: Told): JsonObject {
  const frontier = new Set(frontierOf(field));
  const tiers = Object.entries(tiersOf(field));
  return {
    ranking: field
      .toSorted((left, right) => right.score - left.score || left.price - right.price)
      .map((model) => ({
        model: model.slug,
        coding_score: rounded(model.score),
        price: model.price,
        on_frontier: frontier.has(model),
        tier: tiers.find(([, models]) => models.includes(model))?.[0] ?? null,
        ...(model.throughput !== undefined && { throughput: model.throughput }),
      })),
    left_out: drawLeftOut(leftOut),
  };
}

/** @source seed 2.2 and 8: no candidate satisfies `max_price` */
function nobody(
  slug: string,
  { max_price: priceMax }: Options,
  field: readonly ParetoModel[],
  leftOut: readonly LeftOut[],
): GatewayError {
  if (priceMax === undefined || field.length === 0) return nobodyLeft(slug, leftOut);
  const cheapest = Math.min(...field.map(({ price }) => price));
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
