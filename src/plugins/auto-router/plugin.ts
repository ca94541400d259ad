import type { z } from 'zod';
import { rankForTask, type TaskChoice } from '../../choosing/rank-for-task.ts';
import {
  costOfJudge,
  decisionOf,
  drawJudge,
  goesOn,
  openTaskField,
  rounded,
  type TaskField,
} from '../../choosing/task-field.ts';
import { withSuffixes } from '../../choosing/no-models.ts';
import { assert } from '../../lib/assert.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Plugin } from '../contract.ts';
import { autoRouterOptions } from './options.ts';

const ID = 'auto-router';
/** A conversation goes on with its model after a pause, too. */
const SESSION_MS = 3_600_000;
const CHOSEN_MAX = 3;

/** The best of a cost band, by what tests and this gateway's own traffic say of models for the task. @source generation.md 4.1 */
export const autoRouter = {
  id: ID,
  options: autoRouterOptions,
  slugs: ['service/auto'],
  async chooseModels(request, slug, options, context) {
    const { signal } = context;
    const { choice, generate } = context.abilities;
    assert(choice !== undefined, 'whoever chooses models is given what to choose by');
    const field = await openTaskField(request, { slug, options, choice, generate, signal });
    const { tag } = field.task;
    const pinned = options.pin_model === true ? pinnedOf(request, field, (alias) => choice.resolve(alias)) : undefined;
    const found = chooseIn(field, options, pinned, goesOn(request) ? await choice.remembered(ID) : undefined);
    const { chosen } = found;
    const [first] = chosen;
    assert(first !== undefined, 'a field that is not empty has somebody to choose');
    choice.remember(ID, first, SESSION_MS);
    choice.decided(decisionOf(ID, field, chosen, () => drawRanking(found)));
    context.note({
      type: 'plugin',
      name: ID,
      summary: `Chose ${first} for ${tag}`,
      ...costOfJudge(field),
      data: {
        task_type: tag,
        chosen: [...chosen],
        ranked_by: field.by,
        ...(found.choice !== undefined && { cost_band: [found.choice.band.from, found.choice.band.to] }),
        ...(found.choice?.bandMoved === true && { band_moved: true }),
        ...drawJudge(field),
        ...(pinned !== undefined && { pinned: true }),
      },
    });
    return withSuffixes(slug, chosen);
  },
} satisfies Plugin<typeof autoRouterOptions>;

interface Found {
  /** Slugs, best first. */
  readonly chosen: readonly string[];
  /** Absent: nothing was ranked. */
  readonly choice?: TaskChoice;
}

function chooseIn(
  field: TaskField,
  options: z.output<typeof autoRouterOptions>,
  pinned: string | undefined,
  remembered: string | undefined,
): Found {
  const { models, by, requests } = field;
  const inFront = (slugs: readonly string[]): readonly string[] =>
    [...new Set(pinned === undefined ? slugs : [pinned, ...slugs])].slice(0, CHOSEN_MAX);
  if (by !== 'rankings') return { chosen: inFront(models.map(({ slug }) => slug)) };
  const choice = rankForTask(models, requests, {
    tier: options.cost_tier,
    tradeoff: options.cost_quality_tradeoff,
    remembered,
  });
  return { chosen: inFront(choice.chosen), choice };
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

function drawRanking({ choice }: Found): JsonObject {
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
