import type { TestedModel } from '../../canonical/model-choice.ts';

/** Releases of one harness: of the older one places count, not scores, because its tasks were others. */
const NEWEST = 'livebench-2026-06-25';
const OLDER = 'livebench-2026-01-08';
/** The operator's own word, on the scale of the newest release. */
const OWN = 'coding';

/**
 * How well models write code, 0 to 1, on one scale: the mean of coding and agentic coding in the newest release. A
 * model that only the older release tested gets the score of the model with the same rank in the newest one. Untested
 * models are absent.
 * @param models all tested models, not only those of one gateway: ranks among few say little
 */
export function codingScoresOf(models: readonly TestedModel[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  const older = new Map<string, number>();
  const own = new Map<string, number>();
  for (const { slug, scores } of models) {
    const found = { newest: meanOf(scores, NEWEST), older: meanOf(scores, OLDER), own: bestOf(scores, OWN) };
    if (found.newest !== undefined) newest.set(slug, found.newest);
    if (found.older !== undefined) older.set(slug, found.older);
    if (found.own !== undefined) own.set(slug, found.own);
  }
  const scale = [...newest.values()].toSorted((left, right) => left - right);
  const places = [...older.values()].toSorted((left, right) => left - right);
  const moved = [...older].map(([slug, score]) => [slug, scoreAt(scale, placeOf(places, score)) ?? score] as const);
  return new Map([...moved, ...newest, ...own]);
}

function meanOf(scores: TestedModel['scores'], release: string): number | undefined {
  const coding = bestOf(scores, `${release}/coding`);
  const agentic = bestOf(scores, `${release}/agentic-coding`);
  return coding === undefined || agentic === undefined ? undefined : (coding + agentic) / 2;
}

/** Variants differ in effort; the best one is available to a request. */
function bestOf(scores: TestedModel['scores'], wanted: string): number | undefined {
  let best: number | undefined;
  for (const { metric, score } of scores) if (metric === wanted) best = Math.max(best ?? 0, score);
  return best;
}

/** 0 for the worst, 1 for the best. */
function placeOf(sorted: readonly number[], score: number): number {
  const below = sorted.filter((other) => other < score).length;
  return sorted.length < 2 ? 1 : below / (sorted.length - 1);
}

/** @returns between two scores what lies between them; `undefined` where there are none */
function scoreAt(sorted: readonly number[], place: number): number | undefined {
  const at = place * (sorted.length - 1);
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  return below === undefined || above === undefined ? undefined : below + (above - below) * (at - Math.floor(at));
}
