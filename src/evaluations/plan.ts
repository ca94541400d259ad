import type { RunSettings } from '../resources/evaluations.ts';
import type { Unit } from '../store/evaluations/runs.ts';
import { createRandom, shuffle } from './statistics/random.ts';

/** Answers of one run. */
export const UNITS_MAX = 200_000;

export function unitsOf(items: number, { models, repeats, sample }: RunSettings): number {
  return Math.min(items, sample ?? items) * models.length * repeats;
}

/** Items in an order of chance, those of the sample alone: a run that pauses has heard every model on the same ones. */
export function itemOrder(items: number, { seed, sample }: RunSettings): readonly number[] {
  const all = Array.from({ length: items }, (_, item) => item);
  return shuffle(all, createRandom(seed)).slice(0, sample ?? items);
}

export function* planUnits(items: number, settings: RunSettings): Generator<Unit> {
  for (const item of itemOrder(items, settings))
    for (let model = 0; model < settings.models.length; model++)
      for (let repeatNo = 0; repeatNo < settings.repeats; repeatNo++) yield { item, model, repeatNo };
}
