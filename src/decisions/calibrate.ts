import type { Calibration } from '../canonical/calibration.ts';
import type { Verdict } from '../canonical/decisions.ts';
import { confidenceOf, normalize, toMillionths } from './probabilities.ts';
import { isUnstable, UNSTABLE_CONFIDENCE } from './stability.ts';

const MILLION = 1_000_000;
/** Between which temperatures are searched. @spec decision-14 */
const TEMPERATURE_MIN = 0.05;
const TEMPERATURE_MAX = 20;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
const STEPS = 60;
const BINS = 10;
/** Fewer rows fit chance. */
export const ROWS_MIN = 100;
const FOLDS = 5;
const LEAST = 1e-6;

/** A verdict whose right option is known. */
export interface LabelledRow {
  readonly millionths: readonly number[];
  /** Index of the right option. */
  readonly answer: number;
}

/** How good probabilities are: smaller is better. */
export interface CalibrationScore {
  /** Mean gap between how sure they were and how often that was right. */
  readonly ece: number;
  readonly brier: number;
  /** Mean negative logarithm of what the right option had. */
  readonly loss: number;
}

export interface Fit {
  readonly temperature: number;
  /** As the model gave them, and with temperatures of the other folds: no row is judged by a fit that saw it. */
  readonly before: CalibrationScore;
  readonly heldOut: CalibrationScore;
  /** Held-out probabilities are better than the model's own: a fit that is not is none. */
  readonly helps: boolean;
}

/** The same order of options, flatter above 1 and steeper below. @spec decision-14 */
export function withTemperature(millionths: readonly number[], temperature: number): readonly number[] {
  const powers = millionths.map((value) => Math.max(value / MILLION, LEAST) ** (1 / temperature));
  return normalize(powers) ?? millionths.map((value) => value / MILLION);
}

/** A verdict as a calibration makes it; a type that it does not have stays as it is. */
export function calibrated(verdict: Verdict, { temperatures }: Pick<Calibration, 'temperatures'>): Verdict {
  const temperature = temperatures[verdict.question.type];
  if (temperature === undefined) return verdict;
  const millionths = toMillionths(withTemperature(verdict.millionths, temperature));
  const confidence = confidenceOf(millionths);
  return {
    ...verdict,
    millionths,
    confidence: isUnstable(verdict) ? Math.min(confidence, UNSTABLE_CONFIDENCE) : confidence,
  };
}

/** Finds the temperature of the least loss, and whether it would help rows that it was not found by. */
export function fitTemperature(rows: readonly LabelledRow[]): Fit {
  const before = scoreRows(rows, 1);
  const folds = Array.from({ length: FOLDS }, (_, fold) => {
    const temperature = leastLoss(rows.filter((_row, at) => foldOf(at) !== fold));
    return rows.flatMap((row, at) => (foldOf(at) === fold ? [{ row, temperature }] : []));
  });
  const heldOut = scoreOf(
    folds.flat().map(({ row, temperature }) => ({
      probabilities: withTemperature(row.millionths, temperature),
      answer: row.answer,
    })),
  );
  const helps = heldOut.ece < before.ece && heldOut.loss <= before.loss;
  return { temperature: leastLoss(rows), before, heldOut, helps };
}

/** Scattered: files often have a rhythm. The multiplier is that of Fibonacci hashing. */
function foldOf(at: number): number {
  return Math.floor((((at * 2_654_435_761) % 2 ** 32) / 2 ** 32) * FOLDS);
}

function scoreRows(rows: readonly LabelledRow[], temperature: number): CalibrationScore {
  return scoreOf(
    rows.map(({ millionths, answer }) => ({ probabilities: withTemperature(millionths, temperature), answer })),
  );
}

/** The loss has one minimum over the logarithm of the temperature: a golden section finds it. */
function leastLoss(rows: readonly LabelledRow[]): number {
  const lossAt = (log: number): number => scoreRows(rows, Math.exp(log)).loss;
  let [low, high] = [Math.log(TEMPERATURE_MIN), Math.log(TEMPERATURE_MAX)];
  for (let step = 0; step < STEPS; step++) {
    const [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    if (lossAt(left) <= lossAt(right)) high = right;
    else low = left;
  }
  return Math.exp((low + high) / 2);
}

interface Scored {
  readonly probabilities: readonly number[];
  readonly answer: number;
}

function scoreOf(all: readonly Scored[]): CalibrationScore {
  const bins = Array.from({ length: BINS }, () => ({ count: 0, sure: 0, right: 0 }));
  let [brier, loss] = [0, 0];
  for (const { probabilities, answer } of all) {
    const most = Math.max(...probabilities);
    const bin = bins[Math.min(BINS - 1, Math.floor(most * BINS))];
    if (bin !== undefined) {
      bin.count++;
      bin.sure += most;
      bin.right += probabilities.indexOf(most) === answer ? 1 : 0;
    }
    loss -= Math.log(Math.max(probabilities[answer] ?? 0, LEAST));
    brier += probabilities.reduce((sum, value, at) => sum + (value - (at === answer ? 1 : 0)) ** 2, 0);
  }
  const count = Math.max(1, all.length);
  const gaps = bins.reduce((sum, bin) => sum + Math.abs(bin.sure - bin.right), 0);
  return { ece: gaps / count, brier: brier / count, loss: loss / count };
}
