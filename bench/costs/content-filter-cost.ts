// What filters of guardrails cost a request, without a socket, and for how long they keep the process from its other
// work: run by guardrails.ts in a process of its own.
import * as z from 'zod';

import { LABEL_OF_BUILTIN, type BuiltinFilterSlug } from '../../src/canonical/guardrail-rules.ts';
import type { FilterRule } from '../../src/content-filters/contract.ts';
import { createTextInspector } from '../../src/content-filters/inspector.ts';
import { median } from '../statistics.ts';
import { watchLoop } from './watch-loop.ts';

const costSchema = z.object({
  what: z.string(),
  /** Until the verdict is there; the median. */
  ms: z.number(),
  /** Processor time of all threads. */
  cpuMs: z.number(),
  /** The longest silence of the event loop meanwhile; of all runs the least, since a busy machine is silent by itself. */
  blockMs: z.number(),
});
export const costsSchema = z.array(costSchema);
export type GuardrailCosts = readonly Readonly<z.infer<typeof costSchema>>[];

const WARM_UP_RUNS = 10;
const RUNS = 30;
const US_PER_MS = 1_000;

/** What operators look for: names of projects, formats of their own numbers, words that must not leave. */
function ownPatterns(count: number): readonly FilterRule[] {
  const shapes = [
    'project-%-\\d{3,6}',
    '\\b[A-Z]{2}%\\d{4,8}\\b',
    'secret-%(?:-[a-z]+)?',
    '(?:internal|private) %',
    '%\\.example\\.internal',
  ];
  return Array.from({ length: count }, (_, at): FilterRule => {
    const pattern = (shapes[at % shapes.length] ?? '%').replace('%', String(at));
    return { kind: 'pattern', pattern, action: 'redact', label: '[REDACTED]', name: pattern };
  });
}

function builtIn(...slugs: readonly BuiltinFilterSlug[]): readonly FilterRule[] {
  return slugs.map((slug) => ({
    kind: 'builtin',
    slug,
    action: 'redact',
    label: LABEL_OF_BUILTIN[slug],
    userOnly: false,
    allowedPhrases: [],
  }));
}

function prompt(chars: number): string {
  const line =
    'On 21 November the team moved project-7 to host-12; ask Ann, or see https://example.com/a?b=1 for more. ';
  return line.repeat(Math.ceil(chars / line.length)).slice(0, chars);
}

const SENSITIVE = ['email', 'phone', 'ssn', 'credit-card', 'ip-address'] as const;
const CASES: readonly (readonly [what: string, chars: number, rules: readonly FilterRule[]])[] = [
  ['50 patterns, 1 KB', 1_000, ownPatterns(50)],
  ['50 patterns, 10 KB', 10_000, ownPatterns(50)],
  ['50 patterns, 100 KB', 100_000, ownPatterns(50)],
  ['50 patterns, 1 MB', 1_000_000, ownPatterns(50)],
  ['sensitive data, 1 KB', 1_000, builtIn(...SENSITIVE)],
  ['sensitive data, 100 KB', 100_000, builtIn(...SENSITIVE)],
  ['prompt injection, 1 KB', 1_000, builtIn('regex-prompt-injection')],
  ['prompt injection, 100 KB', 100_000, builtIn('regex-prompt-injection')],
  [
    'all of it, 100 KB',
    100_000,
    [...ownPatterns(50), ...builtIn(...SENSITIVE, 'person-name', 'address', 'regex-prompt-injection')],
  ],
];

async function measure(): Promise<GuardrailCosts> {
  const inspector = createTextInspector();
  const { signal } = new AbortController();
  const costs: GuardrailCosts[number][] = [];
  for (const [what, chars, rules] of CASES) {
    const stated = prompt(chars);
    // A new text each time, in one piece, as requests bring them: the engine remembers what it found in the last one.
    const texts = Array.from({ length: WARM_UP_RUNS + RUNS }, (_, run) => Buffer.from(`${run} ${stated}`).toString());
    const ask = (run: number): Promise<unknown> =>
      inspector.inspect([{ text: texts[run] ?? '', form: 'plain', byUser: true }], rules, signal);
    for (let run = 0; run < WARM_UP_RUNS; run++) await ask(run);
    const times: number[] = [];
    const blocks: number[] = [];
    const cpuTimes: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const loop = watchLoop();
      const cpu = process.cpuUsage();
      const startedMs = performance.now();
      await ask(WARM_UP_RUNS + run);
      times.push(performance.now() - startedMs);
      const { user, system } = process.cpuUsage(cpu);
      cpuTimes.push((user + system) / US_PER_MS);
      blocks.push(loop.stop());
    }
    costs.push({ what, ms: median(times), cpuMs: median(cpuTimes), blockMs: Math.min(...blocks) });
  }
  await inspector.close();
  return costs;
}

if (import.meta.main) process.stdout.write(JSON.stringify(await measure()));
