import { chooseUnderCap, type Offer } from './frontier.ts';

/** A model with what it costs and how well it does: `price` in USD per million input tokens, `score` from 0 to 1. */
export interface ParetoModel extends Offer {
  readonly slug: string;
  /** Median tokens per second. Absent: unknown. */
  readonly throughput?: number | undefined;
}

export type ParetoTier = 'high' | 'medium' | 'low';

/** Where tiers begin: for scores of requests, and for percentiles of models. @spec router-20 */
const FLOORS: Readonly<Record<ParetoTier, number>> = { high: 0.66, medium: 0.33, low: 0 };

export interface ParetoPreference {
  /** USD per million input tokens. Stands above the tiers. */
  readonly priceMax?: number | undefined;
  /** 0 to 1; absent: the high tier. */
  readonly scoreMin?: number | undefined;
  /** Within a tier the fastest comes first, not the cheapest. */
  readonly fastest?: boolean;
  /** The model of the session: first while it is among the allowed ones. */
  readonly remembered?: string | undefined;
}

export interface ParetoChoice {
  /** Best first; empty when no model satisfies the options. */
  readonly chosen: readonly ParetoModel[];
  /** Absent below a price, and for an empty pool. */
  readonly tier?: ParetoTier;
  /** The requested tier was empty. */
  readonly tierMoved: boolean;
  /** The percentile of scores that the chosen ones reach; absent with the tier. */
  readonly floor?: number;
  /** The chosen one is the session's. */
  readonly isRemembered: boolean;
}

/** The first answers, the others stand in for it. @spec router-21 */
const CHOSEN_MAX = 3;

/** Pure. @param pool models that can serve the request, in any order */
export function choosePareto(pool: readonly ParetoModel[], preference: ParetoPreference): ParetoChoice {
  const { priceMax, scoreMin, fastest = false, remembered } = preference;
  if (priceMax !== undefined) {
    const allowed = chooseUnderCap(pool, priceMax).slice(0, CHOSEN_MAX);
    return { ...inFront(allowed, remembered), tierMoved: false };
  }
  const requested = scoreMin === undefined ? 'high' : tierAt(scoreMin);
  const tiers = tiersOf(pool);
  const tier = NEAREST[requested].find((name) => tiers[name].length > 0);
  if (tier === undefined) return { chosen: [], tierMoved: false, isRemembered: false };
  const best = firstOf(tiers[tier], fastest ? byThroughput : byPrice);
  return { ...inFront(best, remembered), tier, tierMoved: tier !== requested, floor: FLOORS[tier] };
}

/** A tier itself, then its neighbours, the better one first. */
const NEAREST: Readonly<Record<ParetoTier, readonly ParetoTier[]>> = {
  high: ['high', 'medium', 'low'],
  medium: ['medium', 'high', 'low'],
  low: ['low', 'medium', 'high'],
};

function tierAt(place: number): ParetoTier {
  if (place >= FLOORS.high) return 'high';
  return place >= FLOORS.medium ? 'medium' : 'low';
}

/** By the part of the others that a model does as well as or better than. The best is always in the high tier. */
export function tiersOf(pool: readonly ParetoModel[]): Readonly<Record<ParetoTier, readonly ParetoModel[]>> {
  const tiers: Record<ParetoTier, ParetoModel[]> = { high: [], medium: [], low: [] };
  const scores = new Float64Array(pool.length);
  for (const [at, { score }] of pool.entries()) scores[at] = score;
  scores.sort();
  for (const model of pool) {
    const better = scores.length - countUpTo(scores, model.score);
    tiers[tierAt(pool.length === 1 ? 1 : 1 - better / (pool.length - 1))].push(model);
  }
  return tiers;
}

/** How many of the sorted scores are not above one. */
function countUpTo(sorted: Float64Array, score: number): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? 0) <= score) from = middle + 1;
    else to = middle;
  }
  return from;
}

type Compare = (left: ParetoModel, right: ParetoModel) => number;

/** The first few in an order, without sorting all for them. */
function firstOf(models: readonly ParetoModel[], compare: Compare): readonly ParetoModel[] {
  const first: ParetoModel[] = [];
  for (const model of models) {
    const last = first.at(-1);
    if (first.length === CHOSEN_MAX && last !== undefined && compare(model, last) >= 0) continue;
    first.push(model);
    first.sort(compare);
    if (first.length > CHOSEN_MAX) first.pop();
  }
  return first;
}

function byPrice(left: ParetoModel, right: ParetoModel): number {
  return left.price - right.price || right.score - left.score || compareSlugs(left, right);
}

/** Unmeasured models come last. */
function byThroughput(left: ParetoModel, right: ParetoModel): number {
  return (right.throughput ?? -1) - (left.throughput ?? -1) || byPrice(left, right);
}

function compareSlugs(left: ParetoModel, right: ParetoModel): number {
  return left.slug < right.slug ? -1 : Number(left.slug > right.slug);
}

function inFront(
  best: readonly ParetoModel[],
  remembered: string | undefined,
): Pick<ParetoChoice, 'chosen' | 'isRemembered'> {
  const held = best.find(({ slug }) => slug === remembered);
  if (held === undefined) return { chosen: best, isRemembered: false };
  return { chosen: [held, ...best.filter((model) => model !== held)], isRemembered: true };
}
