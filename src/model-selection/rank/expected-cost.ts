import { costPercentiles, keepBand, type Band, type CostPreference } from './cost-band.ts';
import type { ScoredModel } from './rank-for-task.ts';
import { blend } from './rankings.ts';

/** The expected cost of one model. Prices in the unit of the pool. */
export interface Expectation {
  readonly slug: string;
  readonly price: number;
  /** 0 to 1: how good it is at the task, by tests and traffic. */
  readonly skill: number;
  /** 0 to 1: how likely its answer will do. */
  readonly success: number;
  /** Its price, and what a failure costs times how likely that is. */
  readonly expected: number;
  readonly costPercentile: number;
  readonly inBand: boolean;
}

export interface ExpectedChoice {
  /** Slugs, best first. Empty where the pool is. */
  readonly chosen: readonly string[];
  readonly band: Band;
  readonly bandMoved: boolean;
  /** The lowest expected cost first. */
  readonly ranking: readonly Expectation[];
}

export interface ExpectedPreference extends CostPreference {
  /** 0 to 1. */
  readonly difficulty: number;
  /** Of the tag in the time that own traffic counts for. */
  readonly requests: number;
  /** The model of the session: first while it is among the best. */
  readonly remembered?: string | undefined;
}

const CHOSEN_MAX = 3;
/** How sharply success falls where a task is harder than a model is good; and how much a model may be behind and still likely do. */
const STEEPNESS = 6;
const EASE = 1.5;
/** A bad response costs the same request again at the best model, and as much again of the user's time. */
const FAILURE_COSTS = 2;

/** How likely an answer will do. Pure; falls with difficulty, rises with skill. */
export function likelySuccess(skill: number, difficulty: number): number {
  return 1 / (1 + Math.exp(-(STEEPNESS * (skill - difficulty) + EASE)));
}

/**
 * The models of a cost band with the lowest expected cost: what an answer costs, and what it costs if it will not do. Easy
 * requests go to the cheapest that can, hard ones to better models, as far as the band allows. @source docs/decisions/0016
 */
export function chooseByExpectedCost(pool: readonly ScoredModel[], input: ExpectedPreference): ExpectedChoice {
  const { band, moved, chosen } = keepBand(pool, input);
  const inBand = new Set(chosen);
  const percentiles = costPercentiles(pool);
  const skillOf = ({ prior, share }: ScoredModel): number => blend(prior, share, input.requests);
  const best = pool.toSorted((left, right) => skillOf(right) - skillOf(left) || right.price - left.price)[0];
  const failurePrice = FAILURE_COSTS * (best?.price ?? 0);
  const ranking = pool
    .map((model): Expectation => {
      const skill = skillOf(model);
      const success = likelySuccess(skill, input.difficulty);
      return {
        slug: model.slug,
        price: model.price,
        skill,
        success,
        expected: model.price + (1 - success) * failurePrice,
        costPercentile: percentiles.get(model) ?? 0,
        inBand: inBand.has(model),
      };
    })
    .toSorted(
      (left, right) =>
        left.expected - right.expected || right.skill - left.skill || left.slug.localeCompare(right.slug),
    );
  const slugs = ranking.filter((one) => one.inBand).map(({ slug }) => slug);
  const top = slugs.slice(0, CHOSEN_MAX);
  const { remembered } = input;
  const first = remembered !== undefined && top.includes(remembered) ? [remembered] : [];
  return { chosen: [...new Set([...first, ...top])], band, bandMoved: moved, ranking };
}
