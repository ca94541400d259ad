/** Successes and failures of a span of time, kept by buckets, with their sums. */
export interface RollingCounts {
  readonly ok: Uint32Array;
  readonly failed: Uint32Array;
  readonly bucketMs: number;
  /** Number of the newest bucket since the clock's zero. */
  newest: number;
  okSum: number;
  failedSum: number;
}

export function createRollingCounts(bucketMs: number, buckets: number): RollingCounts {
  return {
    ok: new Uint32Array(buckets),
    failed: new Uint32Array(buckets),
    bucketMs,
    newest: 0,
    okSum: 0,
    failedSum: 0,
  };
}

/** Forgets what is older than the span. */
export function roll(counts: RollingCounts, nowMs: number): void {
  const now = Math.floor(nowMs / counts.bucketMs);
  if (now <= counts.newest) return;
  const { ok, failed } = counts;
  const steps = Math.min(now - counts.newest, ok.length);
  for (let step = 0; step < steps; step++) {
    const at = (now - step) % ok.length;
    counts.okSum -= ok[at] ?? 0;
    counts.failedSum -= failed[at] ?? 0;
    ok[at] = 0;
    failed[at] = 0;
  }
  counts.newest = now;
}

export function count(counts: RollingCounts, isOk: boolean, nowMs: number): void {
  roll(counts, nowMs);
  const at = counts.newest % counts.ok.length;
  if (isOk) {
    counts.ok[at] = (counts.ok[at] ?? 0) + 1;
    counts.okSum++;
  } else {
    counts.failed[at] = (counts.failed[at] ?? 0) + 1;
    counts.failedSum++;
  }
}

/** The newest buckets alone. Only after `roll`. */
export function sumOfNewest(counts: RollingCounts, buckets: number): { readonly ok: number; readonly failed: number } {
  let ok = 0;
  let failed = 0;
  for (let back = 0; back < buckets && back <= counts.newest; back++) {
    const at = (counts.newest - back) % counts.ok.length;
    ok += counts.ok[at] ?? 0;
    failed += counts.failed[at] ?? 0;
  }
  return { ok, failed };
}

export function clearCounts(counts: RollingCounts): void {
  counts.ok.fill(0);
  counts.failed.fill(0);
  counts.okSum = 0;
  counts.failedSum = 0;
}

export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

/** Bins an octave: a percentile is right to about 4 %. */
const BINS_PER_OCTAVE = 8;
const BINS = 17 * BINS_PER_OCTAVE;
const COUNT_MAX = 65_535;
/** Fewer samples say nothing. */
const SAMPLES_MIN = 5;
/** Computed percentiles are reused for this long. */
const FRESH_MS = 1_000;

/** Values of a span of time as histograms with logarithmic bins, so that memory is the same for any traffic. */
export interface RollingHistogram {
  readonly buckets: readonly Uint16Array[];
  readonly sums: Uint32Array;
  readonly bucketMs: number;
  /** The lower end of the first bin. */
  readonly least: number;
  newest: number;
  total: number;
  known: Percentiles | undefined;
  knownMs: number;
}

export function createRollingHistogram(bucketMs: number, buckets: number, least: number): RollingHistogram {
  return {
    buckets: Array.from({ length: buckets }, () => new Uint16Array(BINS)),
    sums: new Uint32Array(BINS),
    bucketMs,
    least,
    newest: 0,
    total: 0,
    known: undefined,
    knownMs: -Infinity,
  };
}

/** @param value values below `least` count as `least`, and far above as the last bin */
export function addSample(histogram: RollingHistogram, value: number, nowMs: number): void {
  rollHistogram(histogram, nowMs);
  const octaves = Math.log2(Math.max(value, histogram.least) / histogram.least);
  const bin = Math.min(BINS - 1, Math.floor(octaves * BINS_PER_OCTAVE));
  const bucket = histogram.buckets[histogram.newest % histogram.buckets.length];
  if (bucket === undefined || (bucket[bin] ?? 0) === COUNT_MAX) return;
  bucket[bin] = (bucket[bin] ?? 0) + 1;
  histogram.sums[bin] = (histogram.sums[bin] ?? 0) + 1;
  histogram.total++;
}

/** `undefined` while there are too few samples. */
export function percentilesOf(histogram: RollingHistogram, nowMs: number): Percentiles | undefined {
  if (nowMs - histogram.knownMs < FRESH_MS) return histogram.known;
  rollHistogram(histogram, nowMs);
  histogram.knownMs = nowMs;
  histogram.known = histogram.total < SAMPLES_MIN ? undefined : readPercentiles(histogram);
  return histogram.known;
}

function rollHistogram(histogram: RollingHistogram, nowMs: number): void {
  const now = Math.floor(nowMs / histogram.bucketMs);
  if (now <= histogram.newest) return;
  const { buckets, sums } = histogram;
  const steps = Math.min(now - histogram.newest, buckets.length);
  for (let step = 0; step < steps; step++) {
    const bucket = buckets[(now - step) % buckets.length];
    if (bucket === undefined) continue;
    for (let bin = 0; bin < BINS; bin++) {
      const old = bucket[bin] ?? 0;
      if (old === 0) continue;
      sums[bin] = (sums[bin] ?? 0) - old;
      histogram.total -= old;
      bucket[bin] = 0;
    }
  }
  histogram.newest = now;
}

function readPercentiles(histogram: RollingHistogram): Percentiles {
  const ranks = [0.5, 0.75, 0.9, 0.99].map((share) => Math.max(1, Math.ceil(share * histogram.total)));
  const values: number[] = [];
  let seen = 0;
  for (let bin = 0; bin < BINS && values.length < ranks.length; bin++) {
    seen += histogram.sums[bin] ?? 0;
    while (values.length < ranks.length && seen >= (ranks[values.length] ?? 0))
      values.push(histogram.least * 2 ** ((bin + 0.5) / BINS_PER_OCTAVE));
  }
  const [p50 = 0, p75 = 0, p90 = 0, p99 = 0] = values;
  return { p50, p75, p90, p99 };
}
