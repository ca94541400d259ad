// `npm run verify`: the one command that means green. CONTRIBUTING.md lists its steps; `--only NAME,NAME` runs some of
// them.
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** A step: `npm run <script>`, in a bounded form where the script has a long one. */
interface Step {
  readonly script: string;
  readonly args?: readonly string[];
  /** What bounds it. */
  readonly env?: Readonly<Record<string, string>>;
  /** It hangs, and is ended: some five times what it takes on two cores that are not busy. */
  readonly minutesMax: number;
  /** Its output goes by; that of the others goes to a file, and is shown when they fail. */
  readonly isShown?: boolean;
  /**
   * What a second try runs after a failure: the files with a test that failed, or all of it. Steps that start processes and
   * measure on a machine whose load is not theirs alone have one; what fails twice is red, and what does not is reported.
   */
  readonly secondTry?: 'failed-files' | 'all';
}

interface Outcome {
  readonly step: Step;
  readonly seconds: number;
  readonly failure: string | undefined;
  /** Why the first try failed, where a second one did not. */
  readonly firstFailure?: string;
}

const ROOT = path.join(import.meta.dirname, '..');
const LOGS = path.join(ROOT, 'node_modules/.cache/verify');
/** Of the output of a step that failed. */
const LINES_SHOWN = 200;
/** Written by `scripts/test.ts`. */
const FAILED_FILES = path.join(ROOT, 'node_modules/.cache/failed-test-files');
/** Of which a second try is made: more are no accident. */
const FAILED_FILES_MAX = 5;

/** Steps that run one after the other. */
type Lane = readonly Step[];

/**
 * In this order: what is quick and often red comes first. The lanes of a stage run beside each other, where no step of it
 * measures time. Together under 40 minutes on two cores.
 */
const STAGES: readonly (readonly Lane[])[] = [
  [
    [{ script: 'check', minutesMax: 12, isShown: true }],
    [
      { script: 'knip', minutesMax: 6 },
      { script: 'test:additions', minutesMax: 8 },
      { script: 'eval:router', minutesMax: 6 },
    ],
  ],
  [[{ script: 'test:bench', minutesMax: 6 }]],
  [[{ script: 'test', minutesMax: 25, isShown: true, secondTry: 'failed-files' }]],
  [[{ script: 'test:processes', minutesMax: 20, secondTry: 'all' }]],
  [[{ script: 'test:package', minutesMax: 16, secondTry: 'all' }]],
  [[{ script: 'test:browser', minutesMax: 20, secondTry: 'all' }]],
  [
    [
      { script: 'test:docs', minutesMax: 10 },
      { script: 'test:simulation', env: { SIMULATION_REQUESTS: '1000000' }, minutesMax: 12 },
    ],
    [{ script: 'test:fuzz', env: { FUZZ_REQUESTS: '40000', FUZZ_ANSWERS: '15000' }, minutesMax: 25 }],
  ],
  [[{ script: 'test:crash', env: { CRASH_KILLS: '10' }, minutesMax: 25, secondTry: 'all' }]],
  [[{ script: 'test:scale-out', minutesMax: 15, secondTry: 'all' }]],
  [[{ script: 'test:hostile', env: { HOSTILE_FORM: 'bounded' }, minutesMax: 20, secondTry: 'all' }]],
  [[{ script: 'soak', args: ['--minutes', '3'], minutesMax: 12, secondTry: 'all' }]],
];
const STEPS = STAGES.flat(2);

const { values } = parseArgs({
  options: { only: { type: 'string' }, 'keep-going': { type: 'boolean', default: false } },
});
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const steps = chooseSteps(values.only?.split(','));
mkdirSync(LOGS, { recursive: true });
const outcomes: Outcome[] = [];
const running = new Set<ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of running) endGroup(child);
    process.exit(130);
  });
const beganMs = performance.now();
for (const stage of STAGES) {
  await Promise.all(stage.map(runLane));
  if (mustStop()) break;
}
report();
process.exit(outcomes.length === steps.length && outcomes.every(({ failure }) => failure === undefined) ? 0 : 1);

function chooseSteps(only: readonly string[] | undefined): readonly Step[] {
  const there = STEPS.filter(({ script }) => script in scripts);
  const unknown = only?.filter((name) => !there.some(({ script }) => script === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`${unknown.join(', ')}: no step; there are ${there.map(({ script }) => script).join(', ')}`);
  return there.filter(({ script }) => only?.includes(script) ?? true);
}

async function runLane(lane: Lane): Promise<void> {
  for (const step of lane.filter((one) => steps.includes(one))) {
    outcomes.push(await runWithSecondTry(step));
    if (mustStop()) return;
  }
}

function mustStop(): boolean {
  return !values['keep-going'] && outcomes.some(({ failure }) => failure !== undefined);
}

async function runWithSecondTry(step: Step): Promise<Outcome> {
  const first = await runStep(step);
  if (first.failure === undefined || step.secondTry === undefined) return first;
  const files = step.secondTry === 'all' ? [] : readFailedFiles();
  if (files === undefined) return first;
  console.log(`verify: ${step.script}: a second try${files.length > 0 ? ` of ${files.join(', ')}` : ''}`);
  const second = await runStep({ ...step, args: [...(step.args ?? []), ...files] });
  const firstFailure = files.length > 0 ? files.join(', ') : first.failure;
  return { step, seconds: first.seconds + second.seconds, failure: second.failure, firstFailure };
}

/** `undefined`: none was named, or too many. */
function readFailedFiles(): readonly string[] | undefined {
  const files = existsSync(FAILED_FILES) ? readFileSync(FAILED_FILES, 'utf8').trim().split('\n') : [];
  const areFiles = files.every((file) => file.endsWith('.test.ts') && existsSync(path.join(ROOT, file)));
  return files.length > 0 && files.length <= FAILED_FILES_MAX && areFiles ? files : undefined;
}

function runStep(step: Step): Promise<Outcome> {
  const { script, args = [], env = {}, minutesMax, isShown = false } = step;
  const bound = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  console.log(`verify: ${bound.join('')}npm run ${[script, ...(args.length > 0 ? ['--'] : []), ...args].join(' ')}`);
  const beginMs = performance.now();
  // A group of its own, so that what a step started ends with it.
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
    detached: true,
  });
  running.add(child);
  const lines = isShown ? [] : collectOutput(script, child.stdout, child.stderr);
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    endGroup(child);
  }, minutesMax * 60_000);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      const reason = isOverdue ? `not over after ${minutesMax} minutes` : (signal ?? `exit code ${code}`);
      const failure = code === 0 && !isOverdue ? undefined : reason;
      if (failure !== undefined) console.log(lines.slice(-LINES_SHOWN).join('\n'));
      const seconds = Math.round((performance.now() - beginMs) / 1_000);
      console.log(`verify: ${script}: ${failure ?? 'good'}, ${seconds} s`);
      resolve({ step, seconds, failure });
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself, and the groups of the other lanes are still to be ended.
  }
}

function collectOutput(script: string, ...outputs: readonly (NodeJS.ReadableStream | null)[]): readonly string[] {
  const file = createWriteStream(path.join(LOGS, `${script.replaceAll(':', '-')}.log`));
  const lines: string[] = [];
  let open = outputs.length;
  for (const output of outputs) {
    output?.setEncoding('utf8');
    output?.on('data', (text: string) => {
      file.write(text);
      lines.push(...text.split('\n').filter((line) => line !== ''));
      lines.splice(0, Math.max(0, lines.length - LINES_SHOWN));
    });
    output?.on('end', () => --open === 0 && file.end());
  }
  return lines;
}

function report(): void {
  for (const { step, seconds, failure, firstFailure } of outcomes) {
    const word = failure !== undefined ? 'FAILED' : firstFailure === undefined ? 'ok' : 'FLAKY';
    const reason = firstFailure === undefined ? '' : `: first ${firstFailure}`;
    console.log(`${word.padEnd(6)}  ${String(seconds).padStart(5)} s  ${step.script}${reason}`);
  }
  const ran = new Set(outcomes.map(({ step }) => step));
  for (const step of steps.filter((one) => !ran.has(one))) console.log(`not run          ${step.script}`);
  const minutes = (performance.now() - beganMs) / 60_000;
  console.log(`verify: ${minutes.toFixed(1)} minutes; the output of the quiet steps is in ${LOGS}`);
}
