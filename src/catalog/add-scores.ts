import type { Ability } from './scores.ts';
import type { Model, Score } from './model.ts';

/** What an operator knows of models beside the catalog. */
export interface OwnScores {
  /** By the slugs of models. */
  readonly scores: ReadonlyMap<string, readonly Score[]>;
  /** Metrics that an ability is the mean of. Empty: those of the catalog. */
  readonly abilities: Readonly<Record<Ability, readonly string[]>>;
}

export const NO_OWN_SCORES: OwnScores = {
  scores: new Map(),
  abilities: { intelligence: [], coding: [], agentic: [] },
};
const ABILITIES: readonly Ability[] = ['intelligence', 'coding', 'agentic'];

/** Adds an operator's scores to the models. What the configuration says of a model itself stays. */
export function addScores(models: readonly Model[], { scores: own, abilities }: OwnScores): readonly Model[] {
  const isNamed = ABILITIES.some((ability) => abilities[ability].length > 0);
  if (own.size === 0 && !isNamed) return models;
  return models.map((model) => {
    const scores = [...(model.scores ?? []), ...(own.get(model.slug) ?? [])];
    const more = ABILITIES.flatMap((ability) => abilityScore(scores, ability, abilities[ability]));
    return scores.length === 0 ? model : { ...model, scores: [...scores, ...more] };
  });
}

function abilityScore(scores: readonly Score[], ability: Ability, metrics: readonly string[]): readonly Score[] {
  if (metrics.length === 0 || scores.some(({ metric }) => metric === ability)) return [];
  const found = metrics.flatMap((metric) => {
    const values = scores.filter((score) => score.metric === metric).map(({ score }) => score);
    return values.length === 0 ? [] : [Math.max(...values)];
  });
  // A mean of some of them would not compare with that of all.
  if (found.length < metrics.length) return [];
  return [{ metric: ability, score: found.reduce((sum, value) => sum + value, 0) / found.length }];
}
