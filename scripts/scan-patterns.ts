import { join } from 'node:path';
import { createJobThreads, JobError } from '../src/lib/threads/job-threads.ts';
import { findPatterns, type FoundPattern } from './scan-patterns/find-patterns.ts';
import type { PatternJob, PatternResult } from './scan-patterns/pattern-thread.ts';

/** All of it. */
const TOTAL_MS_MAX = 110_000;
/** One pattern, with every text that is tried. Whatever takes longer has more than one way to take too long. */
const PATTERN_MS_MAX = 8_000;
const THREADS_MAX = 2;
const MEMORY_BYTES_MAX = 512 * 1_024 * 1_024;
const SHOWN_CHARS_MAX = 24;

/** Takes quadratic time on its own beginning: a scan that does not find it is broken. */
const PLANTED: FoundPattern = { place: 'planted', literal: '/a+b/' };

type Verdict = PatternResult | 'endless' | 'unread';

/** How the time of each pattern grows with texts that are made to hurt it. It measures: nothing here is a test. */
async function scan(patterns: readonly FoundPattern[]): Promise<readonly (FoundPattern & { verdict: Verdict })[]> {
  const threads = createJobThreads<PatternJob, PatternResult>({
    script: new URL('./scan-patterns/pattern-thread.ts', import.meta.url),
    threadsMax: THREADS_MAX,
    waitingMax: patterns.length,
    memoryBytesMax: MEMORY_BYTES_MAX,
    idleMs: TOTAL_MS_MAX,
  });
  const signal = AbortSignal.timeout(TOTAL_MS_MAX);
  const judge = async ({ literal }: FoundPattern): Promise<Verdict> => {
    try {
      return await threads.run({ literal }, PATTERN_MS_MAX, signal);
    } catch (error) {
      if (!(error instanceof JobError)) throw error;
      return error.fault === 'timeout' ? 'endless' : 'unread';
    }
  };
  const judged = await Promise.all(patterns.map(async (found) => ({ ...found, verdict: await judge(found) })));
  await threads.close();
  return judged;
}

function format({ place, literal, verdict }: FoundPattern & { readonly verdict: Verdict }): string {
  if (verdict === undefined) return '';
  if (verdict === 'endless') return `${place}  ${literal}\n  takes longer than ${PATTERN_MS_MAX} ms for what was tried`;
  if (verdict === 'unread')
    return `${place}  ${literal}\n  was not looked at: there was no time left, or it broke its thread`;
  const { text, chars, ms, growth } = verdict;
  const [head, repeated, tail] = [text.head, text.repeated, text.tail].map((part) =>
    JSON.stringify(part.length > SHOWN_CHARS_MAX ? `${part.slice(0, SHOWN_CHARS_MAX)}...` : part),
  );
  return (
    `${place}  ${literal}\n  ${ms.toFixed(0)} ms for ${chars} characters, ${growth.toFixed(0)} times as long as for a quarter of them: ` +
    `${head} and then ${repeated} again and again, ${tail} at the end`
  );
}

const { patterns, made } = findPatterns(join(import.meta.dirname, '..'));
const [planted, ...judged] = await scan([PLANTED, ...patterns]);
const reported = judged.filter(({ verdict }) => verdict !== undefined);
for (const one of reported) console.log(format(one));
if (made.length > 0) console.log(`Put together while the program runs, and not looked at: ${made.join(', ')}.`);
const unread = reported.filter(({ verdict }) => verdict === 'unread').length;
console.log(
  `${patterns.length} patterns, ${reported.length - unread} of them slower than linear, ${unread} not looked at. Each of those is safe only where something bounds its text.`,
);
if (typeof planted?.verdict !== 'object') {
  console.error('The planted pattern was not found: this scan is blind.');
  process.exit(1);
}
if (unread > 0) process.exit(1);
