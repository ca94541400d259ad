import type { z } from 'zod';
import { chooseByTask } from '../../model-selection/rank/choose-by-task.ts';
import { rankForTask, type TaskChoice } from '../../model-selection/rank/rank-for-task.ts';
import { rounded, type TaskCandidates } from '../../model-selection/candidates/task-candidates.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Plugin } from '../contract.ts';
import { autoRouterOptions } from './options.ts';

const ID = 'auto-router';

/** The best of a cost band, by what tests and this gateway's own traffic say of models for the task. @spec router-10 */
export const autoRouter = {
  id: ID,
  summary: 'Chooses a model for each request by its task, its price and its quality.',
  options: autoRouterOptions,
  slugs: ['service/auto'],
  chooseModels(request, slug, options, context) {
    return chooseByTask(request, { router: ID, slug, options, context }, (pool, { remembered, resolve }) => {
      const pinned = options.pin_model === true ? pinnedOf(request, pool, resolve) : undefined;
      const ranked = rankIn(pool, options, remembered);
      const others = ranked?.chosen ?? pool.models.map((model) => model.slug);
      return {
        chosen: pinned === undefined ? others : [...new Set([pinned, ...others])],
        cost: ranked,
        details: () => formatRanking(ranked),
        ...(pinned !== undefined && { data: { pinned: true } }),
      };
    });
  },
} satisfies Plugin<typeof autoRouterOptions>;

/** `undefined`: nothing is ranked. */
function rankIn(
  { models, by, requests }: TaskCandidates,
  { cost_tier: tier, cost_quality_tradeoff: tradeoff }: z.output<typeof autoRouterOptions>,
  remembered: string | undefined,
): TaskChoice | undefined {
  return by === 'rankings' ? rankForTask(models, requests, { tier, tradeoff, remembered }) : undefined;
}

/** The model of the latest assistant message, while it may answer at all. @spec router-16 */
function pinnedOf(
  { turns }: GenerationRequest,
  { eligible }: TaskCandidates,
  resolve: (slug: string) => string | undefined,
): string | undefined {
  const named = turns.findLast(({ role, model }) => role === 'assistant' && model !== undefined)?.model;
  const slug = named === undefined ? undefined : resolve(named);
  return slug !== undefined && eligible.has(slug) ? slug : undefined;
}

function formatRanking(choice: TaskChoice | undefined): JsonObject {
  if (choice === undefined) return {};
  const { band, bandMoved, ranking } = choice;
  return {
    cost_band: [band.from, band.to],
    ...(bandMoved && { band_moved: true }),
    ranking: ranking.map(({ slug, score, costPercentile, inBand }) => ({
      model: slug,
      score: rounded(score),
      cost_percentile: rounded(costPercentile),
      in_band: inBand,
    })),
  };
}
