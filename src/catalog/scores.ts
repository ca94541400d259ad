import type { Model, Score } from './model.ts';

/** What a model is good at, as listings sort and filter by it. */
export type Ability = 'intelligence' | 'coding' | 'agentic';

/** The newest release of one harness: scores of another release are on another scale. */
const RELEASE = 'livebench-2026-06-25';

/** Which scores an ability is the mean of, where the operator's configuration names none. */
const METRICS: Readonly<Record<Ability, readonly string[]>> = {
  intelligence: [`${RELEASE}/global-average`],
  coding: [`${RELEASE}/coding`, `${RELEASE}/agentic-coding`],
  agentic: [`${RELEASE}/agentic-coding`],
};

/** 0 to 1; `undefined`: not measured. */
export function abilityOf(model: Model, ability: Ability): number | undefined {
  const own = bestScore(model, ability);
  if (own !== undefined) return own;
  let sum = 0;
  for (const metric of METRICS[ability]) {
    const score = bestScore(model, metric);
    if (score === undefined) return undefined;
    sum += score;
  }
  return sum / METRICS[ability].length;
}

/** Variants differ in effort; the best one is available to a request. */
function bestScore({ scores = [] }: Model, metric: string): number | undefined {
  let best: number | undefined;
  for (const score of scores) if (score.metric === metric) best = Math.max(best ?? 0, score.score);
  return best;
}

/** What the operator's configuration says of an ability; `undefined`: nothing. */
export function abilityNamed(model: Model, ability: Ability): number | undefined {
  return bestScore(model, ability);
}

/** One row a metric, the best variant. */
export function bestScores({ scores = [] }: Model): readonly Score[] {
  const best = new Map<string, Score>();
  for (const score of scores) if (score.score > (best.get(score.metric)?.score ?? -1)) best.set(score.metric, score);
  return [...best.values()];
}
