import type { z } from 'zod';
import { chooseByTask } from '../../choosing/choose-by-task.ts';
import { rankForTask, type TaskChoice } from '../../choosing/rank-for-task.ts';
import { rounded, type TaskField } from '../../choosing/task-field.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Plugin } from '../contract.ts';
import { autoRouterOptions } from './options.ts';

const ID = 'auto-router';

/** The best of a cost band, by what tests and this gateway's own traffic say of models for the task. @source generation.md 4.1 */
export const autoRouter = {
  id: ID,
  options: autoRouterOptions,
  slugs: ['service/auto'],
  chooseModels(request, slug, options, context) {
    return chooseByTask(request, { router: ID, slug, options, context }, (field, { remembered, resolve }) => {
      const pinned = options.pin_model === true ? pinnedOf(request, field, resolve) : undefined;
      const ranked = rankIn(field, options, remembered);
      const others = ranked?.chosen ?? field.models.map((model) => model.slug);
      return {
        chosen: pinned === undefined ? others : [...new Set([pinned, ...others])],
        cost: ranked,
        details: () => drawRanking(ranked),
        ...(pinned !== undefined && { data: { pinned: true } }),
      };
    });
  },
} satisfies Plugin<typeof autoRouterOptions>;

/** `undefined`: nothing is ranked. */
function rankIn(
  { models, by, requests }: TaskField,
  { cost_tier: tier, cost_quality_tradeoff: tradeoff }: z.output<typeof autoRouterOptions>,
  remembered: string | undefined,
): TaskChoice | undefined {
  return by === 'rankings' ? rankForTask(models, requests, { tier, tradeoff, remembered }) : undefined;
}

/** The model of the latest assistant message, while it may answer at all. @source seed 2.2 `pin_model` */
function pinnedOf(
  { turns }: GenerationRequest,
  { eligible }: TaskField,
  resolve: (slug: string) => string | undefined,
): string | undefined {
  const named = turns.findLast(({ role, model }) => role === 'assistant' && model !== undefined)?.model;
  const slug = named === undefined ? undefined : resolve(named);
  return slug !== undefined && eligible.has(slug) ? slug : undefined;
}

function drawRanking(choice: TaskChoice | undefined): JsonObject {
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
