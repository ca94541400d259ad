import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';

/*
 * `npm test` runs every test but those of `tests/{processes,crash,scale-out,fuzz}`, which `npm run verify` runs beside it:
 * the start of a gateway's process takes as long as a hundred tests, and made-up requests take as long as they are given. `npm test -- FILE...` runs those of some files or folders
 * alone, each file in a process of its own. Flags go to Node's runner as they stand, with their value behind an equals
 * sign: `npm test -- src/wire --test-name-pattern=cache`.
 */

/** What runs together with others is in `tests/all-together`. */
const EVERYTHING = ['tests/{all-together,clients}/*.test.ts'];
/** Two cores: more processes than cores, since many tests wait. */
const CONCURRENCY = 4;
/** Of one test: what hangs is named, and ends the run before `npm run verify` does. */
const TIMEOUT_MS = 240_000;
/** A process that does not end hangs the runner, which waits without a word. */
const STALL_MS_MAX = 300_000;
/**
 * They save a fifth of the processor time: nothing here is reached through a symbolic link, and V8 begins with a heap as
 * large as tests need, instead of growing it by many collections.
 */
const NODE_FLAGS = ['--preserve-symlinks', '--min-semi-space-size=16', '--initial-heap-size=256'];
const ROOT = path.join(import.meta.dirname, '..');
const REPORTER = path.join(import.meta.dirname, 'failed-files.ts');
/** The files with a test that failed, a line each: what `npm run verify` runs a second time. */
const FAILED_FILES = path.join(ROOT, 'node_modules/.cache/failed-test-files');

mkdirSync(path.dirname(FAILED_FILES), { recursive: true });
// A list of an earlier run says nothing about this one.
rmSync(FAILED_FILES, { force: true });
const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith('-'));
const files = args.filter((arg) => !arg.startsWith('-')).map(patternOf);
const runner = spawn(
  process.execPath,
  [
    ...NODE_FLAGS,
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TIMEOUT_MS}`,
    ...reporters(),
    ...flags,
    ...(files.length === 0 ? EVERYTHING : files),
  ],
  {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: {
      ...process.env,
      // Not that of the program: V8 refuses what was compiled under other flags, and each would replace it for the other.
      NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/tests'),
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
    },
  },
);
let stallCount = 0;
const stalled = setTimeout(endStalled, STALL_MS_MAX);
runner.stdout.on('data', (chunk: Buffer) => {
  stalled.refresh();
  process.stdout.write(chunk);
});
// On Ctrl-C the terminal signals the whole group: the runner ends by itself, and its report is waited for.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => runner.kill('SIGTERM'));
runner.on('close', (code) => {
  clearTimeout(stalled);
  process.exitCode = code ?? 1;
});

/** Node's own for people, unless the arguments name another one, and ours for `npm run verify`. */
function reporters(): readonly string[] {
  if (flags.some((flag) => flag.startsWith('--test-reporter'))) return [];
  return [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${REPORTER}`,
    `--test-reporter-destination=${FAILED_FILES}`,
  ];
}

/** Names what still runs and ends it, so that the runner reports those files as failed; the second time the runner, too. */
function endStalled(): void {
  const { stdout } = spawnSync('ps', ['-eo', 'pid,ppid,stat,wchan:24,etime,args', '--forest', '--columns', '200']);
  console.error(`npm test: nothing came for ${STALL_MS_MAX / 60_000} minutes. What runs:\n${String(stdout)}`);
  if (++stallCount > 1) return void runner.kill('SIGKILL');
  spawnSync('pkill', ['-KILL', '-P', String(runner.pid)]);
  stalled.refresh();
}

/** @throws Error for what is neither a file, a folder nor a pattern: Node's runner would pass with no test at all */
function patternOf(name: string): string {
  if (/[*{]/.test(name)) return name;
  const found = statSync(name, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`${name}: there is no such file or folder`);
  return found.isDirectory() ? `${name.replace(/\/$/, '')}/**/*.test.ts` : name;
}
