import type { z } from 'zod';
import { estimateDifficulty, type Difficulty } from '../../choosing/difficulty.ts';
import { chooseByExpectedCost, type ExpectedChoice } from '../../choosing/expected-cost.ts';
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
import type { Plugin } from '../contract.ts';
import { autoBetaRouterOptions } from './options.ts';

const ID = 'auto-beta-router';
/** A conversation goes on with its model after a pause, too. */
const SESSION_MS = 3_600_000;
const CHOSEN_MAX = 3;

/** The lowest expected cost of a cost band: price, and what an answer that will not do costs. @source docs/decisions/0016 */
export const autoBetaRouter = {
  id: ID,
  options: autoBetaRouterOptions,
  slugs: ['service/auto-beta'],
  async chooseModels(request, slug, options, context) {
    const { signal } = context;
    const { choice, generate } = context.abilities;
    assert(choice !== undefined, 'whoever chooses models is given what to choose by');
    const field = await openTaskField(request, { slug, options, choice, generate, signal });
    const { tag } = field.task;
    const difficulty = estimateDifficulty(request, tag);
    const found = chooseIn(field, options, difficulty, goesOn(request) ? await choice.remembered(ID) : undefined);
    const { chosen, expected } = found;
    const [first] = chosen;
    assert(first !== undefined, 'a field that is not empty has somebody to choose');
    choice.remember(ID, first, SESSION_MS);
    choice.decided(decisionOf(ID, field, chosen, () => drawChoice(difficulty, expected)));
    context.note({
      type: 'plugin',
      name: ID,
      summary: `Chose ${first} for ${tag}`,
      ...costOfJudge(field),
      data: {
        task_type: tag,
        chosen: [...chosen],
        ranked_by: field.by,
        difficulty: rounded(difficulty.score),
        ...(expected !== undefined && { cost_band: [expected.band.from, expected.band.to] }),
        ...(expected?.bandMoved === true && { band_moved: true }),
        ...drawJudge(field),
      },
    });
    return withSuffixes(slug, chosen);
  },
} satisfies Plugin<typeof autoBetaRouterOptions>;

interface Found {
  /** Slugs, best first. */
  readonly chosen: readonly string[];
  /** Absent: nothing was ranked. */
  readonly expected?: ExpectedChoice;
}

function chooseIn(
  { models, by, requests }: TaskField,
  options: z.output<typeof autoBetaRouterOptions>,
  { score: difficulty }: Difficulty,
  remembered: string | undefined,
): Found {
  if (by !== 'rankings') return { chosen: models.map(({ slug }) => slug).slice(0, CHOSEN_MAX) };
  const { cost_tier: tier, cost_quality_tradeoff: tradeoff } = options;
  const expected = chooseByExpectedCost(models, { difficulty, requests, tier, tradeoff, remembered });
  return { chosen: expected.chosen, expected };
}

function drawChoice({ score, parts }: Difficulty, expected: ExpectedChoice | undefined): JsonObject {
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
