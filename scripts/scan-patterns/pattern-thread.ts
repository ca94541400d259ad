import { parentPort } from 'node:worker_threads';
import { assert } from '../../src/lib/assert.ts';
import { formatText, hostileTexts, type HostileText } from './hostile-texts.ts';

/** Input of a thread: one pattern, whose growth in time is measured. */
export interface PatternJob {
  readonly literal: string;
}

/** What takes more than linear time; `undefined`: nothing that was tried. */
export type PatternResult =
  | { readonly text: HostileText; readonly chars: number; readonly ms: number; readonly growth: number }
  | undefined;

/** Each four times as long as the one before: linear time grows fourfold, quadratic time sixteenfold. */
const LENGTHS = [512, 2_048, 8_192, 32_768];
const STEP = 4;
/** From here on it is more than linear, and more than noise. */
const GROWTH_MIN = 8;
/** Faster patterns are harmless. */
const MS_MIN = 4;
/** Conclusive: longer texts only take longer. */
const MS_ENOUGH = 60;
/** Clocks of processors tick in milliseconds: short times are added up to this. */
const ADDED_MS_MIN = 10;
const RUNS_MAX = 1_024;
const MICROSECONDS = 1_000;

const port = parentPort;
assert(port !== null, 'this module runs in a thread');
port.on('message', (job: PatternJob) => port.postMessage(judge(job)));

function judge({ literal }: PatternJob): PatternResult {
  const end = literal.lastIndexOf('/');
  const pattern = new RegExp(literal.slice(1, end), literal.slice(end + 1));
  for (const text of hostileTexts(literal)) {
    const found = measure(pattern, text);
    if (found !== undefined) return found;
  }
  return undefined;
}

function measure(pattern: RegExp, text: HostileText): PatternResult {
  let before: number | undefined;
  for (const chars of LENGTHS) {
    const ms = timeOf(pattern, formatText(text, chars));
    if (before !== undefined && ms >= MS_MIN && ms > before * GROWTH_MIN) {
      // Once more, and exactly: a collection of garbage is no growth.
      const short = meanOf(pattern, formatText(text, chars / STEP));
      const long = meanOf(pattern, formatText(text, chars));
      if (long >= MS_MIN && long > short * GROWTH_MIN) return { text, chars, ms: long, growth: long / short };
    }
    if (ms > MS_ENOUGH) return undefined;
    before = ms;
  }
  return undefined;
}

/** Of the processor, in this thread. */
function timeOf(pattern: RegExp, text: string, runs = 1): number {
  const before = process.threadCpuUsage();
  for (let count = 0; count < runs; count++) run(pattern, text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / MICROSECONDS;
}

function meanOf(pattern: RegExp, text: string): number {
  for (let runs = 1; ; runs *= 2) {
    const ms = timeOf(pattern, text, runs);
    if (ms >= ADDED_MS_MIN || runs >= RUNS_MAX) return ms / runs;
  }
}

/** As its users do: all matches, or whether there is one. */
function run(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.global) text.replace(pattern, '');
  else pattern.test(text);
}
