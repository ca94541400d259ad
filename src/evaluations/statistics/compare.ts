import type { LoopTurns } from '../../lib/async/loop-turns.ts';
import { bootstrapInterval, type Interval } from './intervals.ts';
import { createRandom } from './random.ts';
import { areTrials, groupSums, itemScores, type ItemScore, type Result } from './summary.ts';
import { holmCorrection, mcNemarTest, signFlipTest } from './tests-of-difference.ts';

/** An item that one side has right and the other wrong. */
export interface Flip {
  readonly itemId: string;
  readonly a: string;
  readonly b: string;
}

/** How one side of a comparison stands to the other, over the items that both have. */
export interface Comparison {
  readonly items: number;
  /** Items that one side alone has. */
  readonly onlyA: number;
  readonly onlyB: number;
  /** Of b over a; null: they share no item. */
  readonly difference: number | null;
  readonly interval: Interval | null;
  /** Two-sided, corrected for the number of comparisons. */
  readonly p: number;
  /** The exact test for right and wrong; null: there are scores between. */
  readonly mcnemarP: number | null;
  readonly verdict: 'better' | 'worse' | 'no difference shown';
  readonly gained: readonly Flip[];
  readonly lost: readonly Flip[];
  /** Of b over a, of one item, nano-USD. */
  readonly costDifferenceNanoUsd: number | null;
}

export interface Compared {
  readonly a: readonly Result[];
  readonly b: readonly Result[];
}

const SIGNIFICANT = 0.05;

/** Compares pairs of results; b is better or worse than a, or nothing is shown. */
export async function compare(
  pairs: readonly Compared[],
  seed: number,
  turns: LoopTurns,
): Promise<readonly Comparison[]> {
  const found: Comparison[] = [];
  for (const pair of pairs) found.push(await compareOne(pair, seed, turns));
  const corrected = holmCorrection(found.map(({ p }) => p));
  return found.map((one, at) => withVerdict(one, corrected[at] ?? 1));
}

function withVerdict(one: Comparison, p: number): Comparison {
  const { difference, interval } = one;
  const isShown =
    difference !== null && interval !== null && p < SIGNIFICANT && (interval.low > 0 || interval.high < 0);
  return { ...one, p, verdict: !isShown ? 'no difference shown' : difference > 0 ? 'better' : 'worse' };
}

interface Pair {
  readonly a: ItemScore;
  readonly b: ItemScore;
}

async function compareOne({ a, b }: Compared, seed: number, turns: LoopTurns): Promise<Comparison> {
  const [left, right] = [itemScores(a), itemScores(b)];
  const byItem = new Map(right.map((score) => [score.item, score]));
  const pairs: Pair[] = left.flatMap((score) => {
    const other = byItem.get(score.item);
    return other === undefined ? [] : [{ a: score, b: other }];
  });
  const difference = new Map(pairs.map((pair) => [pair.a.item, pair.b.score - pair.a.score]));
  const groups = groupSums(
    pairs.map((pair) => pair.a),
    ({ item }) => difference.get(item) ?? 0,
  );
  const weight = groups.reduce((sum, group) => sum + group.weight, 0);
  const flips = (isFrom: (pair: Pair) => boolean): readonly Flip[] =>
    pairs.filter(isFrom).map((pair) => ({ itemId: pair.a.itemId, a: pair.a.generationId, b: pair.b.generationId }));
  const gained = flips((pair) => pair.a.score === 0 && pair.b.score === 1);
  const lost = flips((pair) => pair.a.score === 1 && pair.b.score === 0);
  const isBinary = pairs.length > 0 && areTrials(pairs.flatMap((pair) => [pair.a, pair.b]));
  return {
    items: pairs.length,
    onlyA: left.length - pairs.length,
    onlyB: right.length - pairs.length,
    difference: weight === 0 ? null : groups.reduce((sum, group) => sum + group.sum, 0) / weight,
    interval: (await bootstrapInterval(groups, createRandom(seed), turns)) ?? null,
    p: await signFlipTest(
      groups.map(({ sum }) => sum),
      createRandom(seed),
      turns,
    ),
    mcnemarP: isBinary ? mcNemarTest(gained.length, lost.length) : null,
    verdict: 'no difference shown',
    gained,
    lost,
    costDifferenceNanoUsd: pairs.length === 0 ? null : costDifference(pairs),
  };
}

function costDifference(pairs: readonly Pair[]): number {
  const sum = pairs.reduce((total, pair) => total + pair.b.costNanoUsd - pair.a.costNanoUsd, 0);
  return Math.round(sum / pairs.length);
}
