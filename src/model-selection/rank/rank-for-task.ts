import { costPercentiles, keepBand, type Band, type CostPreference } from './cost-band.ts';
import { blend } from './rankings.ts';

/** A model that may answer, as a choice for one tag sees it. */
export interface ScoredModel {
  readonly slug: string;
  /** USD per million tokens, input and output blended. */
  readonly price: number;
  /** The test result, 0 to 1; `undefined`: untested. */
  readonly prior: number | undefined;
  /** Where it stands in what is spent here on the tag, 0 to 1. */
  readonly share: number;
}

export interface TaskChoiceInput extends CostPreference {
  /** The model of the session: first while it is among the best. */
  readonly remembered?: string | undefined;
  /** A model that is kept while it may serve, among the best or not. */
  readonly pinned?: string | undefined;
}

/** The chosen models, and the reasons. */
export interface TaskChoice {
  /** Slugs, best first. Empty where the pool is. */
  readonly chosen: readonly string[];
  readonly band: Band;
  readonly bandMoved: boolean;
  readonly ranking: readonly {
    readonly slug: string;
    readonly score: number;
    readonly costPercentile: number;
    readonly inBand: boolean;
  }[];
}

/** The first answers, the others stand in for it. @spec router-1 */
const CHOSEN_MAX = 3;

/**
 * The best models of a cost band for what a request is about. @param requests of the tag in the time that own traffic
 * counts for
 */
export function rankForTask(pool: readonly ScoredModel[], requests: number, input: TaskChoiceInput): TaskChoice {
  const { band, moved, chosen } = keepBand(pool, input);
  const percentiles = costPercentiles(pool);
  const inBand = new Set(chosen);
  const scoreOf = ({ prior, share }: ScoredModel): number => blend(prior, share, requests);
  const ranked = pool.toSorted(
    (left, right) => scoreOf(right) - scoreOf(left) || left.price - right.price || left.slug.localeCompare(right.slug),
  );
  const best = ranked.filter((model) => inBand.has(model)).slice(0, CHOSEN_MAX);
  const slugs = best.map(({ slug }) => slug);
  return {
    chosen: inFront(slugs, preferred(pool, slugs, input)),
    band,
    bandMoved: moved,
    ranking: ranked.map((model) => ({
      slug: model.slug,
      score: scoreOf(model),
      costPercentile: percentiles.get(model) ?? 0,
      inBand: inBand.has(model),
    })),
  };
}

function preferred(pool: readonly ScoredModel[], best: readonly string[], input: TaskChoiceInput): string | undefined {
  const { pinned, remembered } = input;
  if (pinned !== undefined && pool.some(({ slug }) => slug === pinned)) return pinned;
  return remembered !== undefined && best.includes(remembered) ? remembered : undefined;
}

function inFront(slugs: readonly string[], first: string | undefined): readonly string[] {
  if (first === undefined) return slugs;
  return [first, ...slugs.filter((slug) => slug !== first)].slice(0, CHOSEN_MAX);
}
