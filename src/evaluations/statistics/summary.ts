import type { LoopTurns } from '../../lib/async/loop-turns.ts';
import type { ItemVerdict } from '../../resources/evaluations.ts';
import type { ResultRow } from '../../store/evaluations/columns.ts';
import { bootstrapInterval, quantileOf, wilsonInterval, type GroupSum, type Interval } from './intervals.ts';
import { createRandom } from './random.ts';

export type Result = Pick<
  ResultRow,
  | 'item'
  | 'groupName'
  | 'weightPpm'
  | 'verdict'
  | 'scorePpm'
  | 'costNanoUsd'
  | 'judgeCostNanoUsd'
  | 'latencyMs'
  | 'outputTokens'
  | 'generationId'
  | 'itemId'
>;

/** What a run says of one model. */
export interface ModelSummary {
  /** Items with a score. */
  readonly items: number;
  /** Weighted; null: nothing has a score. */
  readonly mean: number | null;
  /** Of 95 %; null: there is too little to say one. */
  readonly interval: Interval | null;
  readonly method: 'wilson' | 'bootstrap';
  readonly smallSample: boolean;
  readonly costNanoUsd: number;
  readonly judgeCostNanoUsd: number;
  /** Of one item, by the answers that came; null: none did. */
  readonly costPerItemNanoUsd: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
  readonly outputTokens: number;
  readonly verdicts: Readonly<Record<ItemVerdict, number>>;
}

/** One item of one model: repeats are averaged before anything else. */
export interface ItemScore {
  readonly item: number;
  readonly itemId: string;
  readonly group: string | null;
  readonly weight: number;
  readonly score: number;
  readonly costNanoUsd: number;
  /** Of its first answer. */
  readonly generationId: string;
}

/** Below, the interval says more than the mean. */
export const SMALL_SAMPLE = 30;
const PPM = 1_000_000;

/** Items that have a score, in their order. */
export function itemScores(results: readonly Result[]): readonly ItemScore[] {
  return [...Map.groupBy(results, ({ item }) => item)]
    .toSorted(([left], [right]) => left - right)
    .flatMap(([item, repeats]) => {
      const scores = repeats.flatMap(({ scorePpm }) => scorePpm ?? []);
      const [first] = repeats;
      if (scores.length === 0 || first === undefined) return [];
      const { itemId, groupName: group, weightPpm, generationId } = first;
      return [
        {
          item,
          itemId,
          group,
          weight: weightPpm / PPM,
          score: sumOf(scores) / scores.length / PPM,
          costNanoUsd: sumOf(repeats.map((one) => one.costNanoUsd)) / repeats.length,
          generationId,
        },
      ];
    });
}

/** @param seed the same one gives the same interval */
export async function summarize(results: readonly Result[], seed: number, turns: LoopTurns): Promise<ModelSummary> {
  const scores = itemScores(results);
  const groups = groupSums(scores, ({ score }) => score);
  const weight = sumOf(groups.map((group) => group.weight));
  const isBinary = areTrials(scores);
  const answered = results.filter(({ verdict }) => verdict !== 'upstream_error');
  const latencies = Float64Array.from(answered, ({ latencyMs }) => latencyMs).toSorted();
  const cost = sumOf(results.map(({ costNanoUsd }) => costNanoUsd));
  return {
    items: scores.length,
    mean: weight === 0 ? null : sumOf(groups.map(({ sum }) => sum)) / weight,
    interval: await intervalOf(scores, groups, seed, turns),
    method: isBinary ? 'wilson' : 'bootstrap',
    smallSample: scores.length < SMALL_SAMPLE,
    costNanoUsd: cost,
    judgeCostNanoUsd: sumOf(results.map(({ judgeCostNanoUsd }) => judgeCostNanoUsd)),
    costPerItemNanoUsd:
      answered.length === 0
        ? null
        : Math.round(sumOf(answered.map(({ costNanoUsd }) => costNanoUsd)) / answered.length),
    latencyMs:
      latencies.length === 0
        ? null
        : { p50: Math.round(quantileOf(latencies, 0.5)), p95: Math.round(quantileOf(latencies, 0.95)) },
    outputTokens: sumOf(results.map(({ outputTokens }) => outputTokens)),
    verdicts: countVerdicts(results),
  };
}

async function intervalOf(
  scores: readonly ItemScore[],
  groups: readonly GroupSum[],
  seed: number,
  turns: LoopTurns,
): Promise<Interval | null> {
  if (scores.length === 0) return null;
  if (areTrials(scores)) return wilsonInterval(scores.filter(({ score }) => score === 1).length, scores.length);
  return (await bootstrapInterval(groups, createRandom(seed), turns)) ?? null;
}

/** Whether each item is right or wrong by itself, and counts like any other. Repeats that disagree make a score between. */
export function areTrials(scores: readonly ItemScore[]): boolean {
  const [first] = scores;
  return scores.every(
    ({ score, group, weight }) =>
      (score === 0 || score === 1) && group === null && weight === first?.weight && weight > 0,
  );
}

/** An item without a group is one. */
export function groupSums(scores: readonly ItemScore[], valueOf: (score: ItemScore) => number): readonly GroupSum[] {
  const named = Map.groupBy(scores, ({ group, item }) => (group === null ? item : `group ${group}`));
  return [...named.values()].map((items) => ({
    sum: sumOf(items.map((item) => item.weight * valueOf(item))),
    weight: sumOf(items.map((item) => item.weight)),
  }));
}

function countVerdicts(results: readonly Result[]): Readonly<Record<ItemVerdict, number>> {
  const counts: Record<ItemVerdict, number> = {
    pass: 0,
    partial: 0,
    fail: 0,
    refused: 0,
    length: 0,
    invalid: 0,
    upstream_error: 0,
    unjudged: 0,
  };
  for (const { verdict } of results) counts[verdict]++;
  return counts;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
