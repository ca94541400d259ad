import type { z } from 'zod';
import { chooseByTask } from '../../model-selection/rank/choose-by-task.ts';
import { estimateDifficulty, type Difficulty } from '../../model-selection/classify/difficulty.ts';
import { chooseByExpectedCost, type ExpectedChoice } from '../../model-selection/rank/expected-cost.ts';
import { rounded, type TaskCandidates } from '../../model-selection/candidates/task-candidates.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Plugin } from '../contract.ts';
import { autoBetaRouterOptions } from './options.ts';

const ID = 'auto-beta-router';

/** The lowest expected cost of a cost band: price, and what an answer that will not do costs. @source docs/decisions/0016 */
export const autoBetaRouter = {
  id: ID,
  summary: 'Chooses the model with the least expected cost in a cost band, by difficulty.',
  options: autoBetaRouterOptions,
  slugs: ['service/auto-beta'],
  chooseModels(request, slug, options, context) {
    return chooseByTask(request, { router: ID, slug, options, context }, (pool, { remembered }) => {
      const difficulty = estimateDifficulty(request, pool.task.tag);
      const expected = expectIn(pool, options, difficulty, remembered);
      return {
        chosen: expected?.chosen ?? pool.models.map((model) => model.slug),
        cost: expected,
        data: { difficulty: rounded(difficulty.score) },
        details: () => formatChoice(difficulty, expected),
      };
    });
  },
} satisfies Plugin<typeof autoBetaRouterOptions>;

/** `undefined`: nothing is ranked. */
function expectIn(
  { models, by, requests }: TaskCandidates,
  { cost_tier: tier, cost_quality_tradeoff: tradeoff }: z.output<typeof autoBetaRouterOptions>,
  { score: difficulty }: Difficulty,
  remembered: string | undefined,
): ExpectedChoice | undefined {
  if (by !== 'rankings') return undefined;
  return chooseByExpectedCost(models, { difficulty, requests, tier, tradeoff, remembered });
}

function formatChoice({ score, parts }: Difficulty, expected: ExpectedChoice | undefined): JsonObject {
  const difficulty = {
    score: rounded(score),
    parts: Object.fromEntries(Object.entries(parts).map(([part, value]) => [part, rounded(value)])),
  };
  if (expected === undefined) return { difficulty };
  const { band, bandMoved, ranking } = expected;
  return {
    difficulty,
    cost_band: [band.from, band.to],
    ...(bandMoved && { band_moved: true }),
    ranking: ranking.map((one) => ({
      model: one.slug,
      price: rounded(one.price),
      skill: rounded(one.skill),
      success: rounded(one.success),
      expected_price: rounded(one.expected),
      cost_percentile: rounded(one.costPercentile),
      in_band: one.inBand,
    })),
  };
}
