import type { TestedModel } from '../../canonical/model-choice.ts';
import type { TaskTag } from '../classify/task-tags.ts';
import { groupOf } from '../classify/task-tags.ts';

/** How good models are at a task, before they are used here. */
export interface Rankings {
  /** Rank among the tested models, 0 to 1; `undefined`: untested. */
  priorOf(slug: string, tag: TaskTag): number | undefined;
  /**
   * Where a model would stand by what its operator says of it, on the scale of the newest tests; `undefined`: nothing is said.
   */
  placeOwn(own: OwnScores, tag: TaskTag): number | undefined;
}

/** What an operator's configuration says of a model, 0 to 1. */
export type OwnScores = Readonly<Partial<Record<'coding' | 'agentic' | 'intelligence', number>>>;

/** Releases of one harness, newest first: scores of two releases are on two scales, so that a model counts in one. */
const RELEASES = ['livebench-2026-06-25', 'livebench-2026-01-08'] as const;
const TAU2 = 'tau2-bench/banking_knowledge';

/** Weights of what a tag is measured by: a test of the newest release that tested the model, or a metric of its own. */
type Recipe = Readonly<Record<string, number>>;

const EVEN_CODING: Recipe = { coding: 0.5, 'agentic-coding': 0.5 };
const AGENTIC_CODING: Recipe = { 'agentic-coding': 0.7, coding: 0.3 };
const AGENT: Recipe = { 'agentic-coding': 0.6, [TAU2]: 0.4 };
const DATA: Recipe = { 'data-analysis': 0.6, 'instruction-following': 0.4 };
const NUMBERS: Recipe = { mathematics: 0.7, reasoning: 0.3 };
const LANGUAGE: Recipe = { language: 0.5, 'instruction-following': 0.5 };
const SUPPORT: Recipe = { 'instruction-following': 0.5, [TAU2]: 0.5 };
const OVERALL: Recipe = { 'global-average': 1 };

const RECIPES: Readonly<Partial<Record<TaskTag, Recipe>>> = {
  'code:general_impl': EVEN_CODING,
  'code:frontend_ui': EVEN_CODING,
  'code:sql_database': EVEN_CODING,
  classification_tagging: DATA,
  math: NUMBERS,
  finance_trading: NUMBERS,
  content_writing: LANGUAGE,
  roleplay_fiction: LANGUAGE,
  summarization: LANGUAGE,
  translation: LANGUAGE,
  conversational_reply: LANGUAGE,
  image_prompting: LANGUAGE,
  customer_support: SUPPORT,
};

/** What a tag is measured by. */
export function recipeOf(tag: TaskTag): Recipe {
  const own = RECIPES[tag];
  if (own !== undefined) return own;
  const group = groupOf(tag);
  if (group === 'code') return AGENTIC_CODING;
  if (group === 'agent') return AGENT;
  return group === 'data' ? DATA : OVERALL;
}

/** @param models all tested models, not only those of one gateway: with few models every one would rank high */
export function createRankings(models: readonly TestedModel[]): Rankings {
  const percentiles = percentilesOf(models);
  const known = new Map<string, number | undefined>();
  return {
    priorOf(slug, tag) {
      const key = `${tag} ${slug}`;
      if (!known.has(key) && percentiles.has(slug)) known.set(key, weigh(percentiles.get(slug), recipeOf(tag)));
      return known.get(key);
    },
    placeOwn(own, tag) {
      const ability = OWN_BY_GROUP[groupOf(tag)].find((name) => own[name] !== undefined);
      const score = ability && own[ability];
      if (ability === undefined || score === undefined) return undefined;
      const scale = scaleOf(ability, models);
      // Alone it stands where it says.
      return scale.length === 0 ? score : scale.filter((other) => other <= score).length / scale.length;
    },
  };
}

type Ability = keyof OwnScores;

/** What is said of a model counts for what it is nearest to, and else for all. */
const OWN_BY_GROUP: Readonly<Record<ReturnType<typeof groupOf>, readonly Ability[]>> = {
  code: ['coding', 'agentic', 'intelligence'],
  agent: ['agentic', 'coding', 'intelligence'],
  data: ['intelligence', 'agentic', 'coding'],
  general: ['intelligence', 'agentic', 'coding'],
};

/** What an ability is the mean of, as listings have it. */
const TESTS_OF: Readonly<Record<Ability, readonly string[]>> = {
  coding: ['coding', 'agentic-coding'],
  agentic: ['agentic-coding'],
  intelligence: ['global-average'],
};

/** Scores of the ability in the newest release, of all that were tested in it. */
function scaleOf(ability: Ability, models: readonly TestedModel[]): readonly number[] {
  return models.flatMap(({ scores }) => {
    const found = TESTS_OF[ability].map((test) => bestOf(scores, `${RELEASES[0]}/${test}`));
    return found.every((score) => score !== undefined)
      ? [found.reduce((sum, score) => sum + score, 0) / found.length]
      : [];
  });
}

function bestOf(scores: TestedModel['scores'], wanted: string): number | undefined {
  const found = scores.flatMap(({ metric, score }) => (metric === wanted ? [score] : []));
  return found.length === 0 ? undefined : Math.max(...found);
}

/** By model and metric: the part of the others that it is as good as or better than. */
function percentilesOf(models: readonly TestedModel[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const byMetric = new Map<string, Map<string, number>>();
  for (const { slug, scores } of models)
    for (const { metric, score } of scores) {
      const best = byMetric.get(metric) ?? new Map<string, number>();
      // Variants differ in effort; the best one is available to a request.
      best.set(slug, Math.max(best.get(slug) ?? 0, score));
      byMetric.set(metric, best);
    }
  const found = new Map<string, Map<string, number>>();
  for (const [metric, best] of byMetric)
    for (const [slug, score] of best) {
      const above = [...best.values()].filter((other) => other > score).length;
      const own = found.get(slug) ?? new Map<string, number>();
      own.set(metric, best.size === 1 ? 1 : 1 - above / (best.size - 1));
      found.set(slug, own);
    }
  return found;
}

/** The newest release that tested the model in any part of the recipe; an older one may only know the average. */
function weigh(own: ReadonlyMap<string, number> | undefined, recipe: Recipe): number | undefined {
  if (own === undefined) return undefined;
  for (const part of [recipe, OVERALL])
    for (const release of RELEASES) {
      const found = average(own, part, release);
      if (found !== undefined) return found;
    }
  return undefined;
}

/** Unmeasured parts are left out, but one of the release must be there. */
function average(own: ReadonlyMap<string, number>, recipe: Recipe, release: string): number | undefined {
  let sum = 0;
  let weights = 0;
  let isTested = false;
  for (const [test, weight] of Object.entries(recipe)) {
    const isOwnMetric = test.includes('/');
    const percentile = own.get(isOwnMetric ? test : `${release}/${test}`);
    if (percentile === undefined) continue;
    isTested ||= !isOwnMetric;
    sum += weight * percentile;
    weights += weight;
  }
  return isTested ? sum / weights : undefined;
}

/** Requests of the last days that make own traffic count as much as tests. @spec router-10 */
const EVEN_REQUESTS = 200;

/**
 * Combines test results with the spending on models for a tag here: the more requests, the higher the weight of
 * spending.
 * @param prior 0 to 1; `undefined`: untested
 * @param share rank of the model in the spending on the tag, 0 to 1
 * @param requests of the tag in the period
 */
export function blend(prior: number | undefined, share: number, requests: number): number {
  const own = requests / (requests + EVEN_REQUESTS);
  return (1 - own) * (prior ?? 0) + own * share;
}
