/** What was said of one thing, and what is true. */
export interface Judged {
  readonly truth: string;
  readonly stated: string;
}

/** 1.96 standard deviations: 95 of 100. */
const Z = 1.96;

export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Wilson's 95 % interval of a share: unlike the plain one it stays within 0 and 1, and is wide where little was counted. */
export function wilson(hits: number, of: number): Interval {
  if (of === 0) return { from: 0, to: 1 };
  const observed = hits / of;
  const middle = observed + Z ** 2 / (2 * of);
  const half = Z * Math.sqrt((observed * (1 - observed)) / of + Z ** 2 / (4 * of ** 2));
  const scale = 1 + Z ** 2 / of;
  return { from: Math.max(0, (middle - half) / scale), to: Math.min(1, (middle + half) / scale) };
}

export interface TagScore {
  readonly tag: string;
  readonly count: number;
  /** Of those that are it. */
  readonly hits: number;
  readonly stated: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** One row a tag that is true of anything, in the order of `tags`. */
export function scoreTags(judged: readonly Judged[], tags: readonly string[]): readonly TagScore[] {
  return tags.flatMap((tag) => {
    const count = judged.filter(({ truth }) => truth === tag).length;
    const stated = judged.filter((one) => one.stated === tag).length;
    const hits = judged.filter((one) => one.truth === tag && one.stated === tag).length;
    if (count === 0) return [];
    return [
      {
        tag,
        count,
        hits,
        stated,
        precision: share(hits, stated),
        recall: hits / count,
        f1: (2 * hits) / (count + stated),
      },
    ];
  });
}

export function accuracy(judged: readonly Judged[]): number {
  return share(judged.filter(({ truth, stated }) => truth === stated).length, judged.length);
}

/** Every tag counts the same, however often it is true. */
export function macroF1(scores: readonly TagScore[]): number {
  return share(
    scores.reduce((sum, { f1 }) => sum + f1, 0),
    scores.length,
  );
}

/** How far two labellings agree beyond what chance would give: Cohen's kappa. 1: always, 0: as by chance. */
export function kappa(pairs: readonly (readonly [string, string])[]): number {
  const agreed = share(pairs.filter(([one, other]) => one === other).length, pairs.length);
  const labels = new Set(pairs.flat());
  let byChance = 0;
  for (const label of labels) {
    const ones = pairs.filter(([one]) => one === label).length;
    const others = pairs.filter(([, other]) => other === label).length;
    byChance += (ones * others) / pairs.length ** 2;
  }
  return byChance === 1 ? 1 : (agreed - byChance) / (1 - byChance);
}

export interface Confusion {
  readonly truth: string;
  readonly stated: string;
  readonly count: number;
}

/** The most frequent mistakes first. */
export function confusions(judged: readonly Judged[], most: number): readonly Confusion[] {
  const wrong = judged.filter(({ truth, stated }) => truth !== stated);
  return [...Map.groupBy(wrong, ({ truth, stated }) => `${truth} ${stated}`).values()]
    .map((same) => ({ truth: same[0]?.truth ?? '', stated: same[0]?.stated ?? '', count: same.length }))
    .toSorted((left, right) => right.count - left.count || left.truth.localeCompare(right.truth))
    .slice(0, most);
}

/** The most frequent label: the baseline of guessing. */
export function majority(labels: readonly string[]): string {
  const [most] = [...Map.groupBy(labels, (label) => label).entries()].toSorted(
    ([one, many], [other, others]) => others.length - many.length || one.localeCompare(other),
  );
  return most?.[0] ?? '';
}

export interface Measured {
  readonly label: string;
  readonly length: number;
  readonly id: string;
}

/** The label of the known text that is nearest in length, never of the text itself: what lengths alone give away. */
export function nearestByLength(known: readonly Measured[], { id, length }: Omit<Measured, 'label'>): string {
  const others = known.filter((one) => one.id !== id);
  const [nearest] = others.toSorted(
    (left, right) =>
      Math.abs(left.length - length) - Math.abs(right.length - length) || left.id.localeCompare(right.id),
  );
  return nearest?.label ?? '';
}

const SAMPLES = 1_000;
/** Of the generator below, so that the same items give the same interval. */
const SEED = 20_261_122;

/** The 95 % interval of a figure with unknown distribution: from samples drawn again from the sample, with replacement. */
export function bootstrap<One>(sample: readonly One[], figure: (formatted: readonly One[]) => number): Interval {
  const random = createRandom(SEED);
  const figures = Array.from({ length: SAMPLES }, () =>
    figure(sample.map((one) => sample[Math.floor(random() * sample.length)] ?? one)),
  ).toSorted((left, right) => left - right);
  const at = (rank: number): number => figures[Math.round(rank * (SAMPLES - 1))] ?? 0;
  return { from: at(0.025), to: at(0.975) };
}

/** Mulberry32, from 0 up to, not including, 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function mean(values: readonly number[]): number {
  return share(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
  );
}

function share(part: number, of: number): number {
  return of === 0 ? 0 : part / of;
}
