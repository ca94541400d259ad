import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** `npm run test:package` runs the same tests on what is published. */
export const ENTRY = join(ROOT, process.env['TEST_ENTRY'] ?? 'src/main.ts');
/** A tenth less processor time for a start: nothing here is reached through a symbolic link. */
const NODE_FLAGS = ['--preserve-symlinks'];
/** The folder that `src/main.ts` uses; from the environment its own source and its threads come from there, too. */
const COMPILE_CACHE = join(ROOT, 'node_modules/.cache/model-gateway');

export interface CliOptions {
  /** Everything that the process sees of an environment, besides the path and the cache of compiled sources. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What to run instead of `node src/main.ts`, with its flags. */
  readonly command?: readonly string[];
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line under way. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<CliResult>;
  /** Standard output up to the first match. Rejects with everything that was printed when the process ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts the command line interface as a process of its own, which is killed when the test ends. */
export function startCli(t: Pick<TestContext, 'after'>, args: readonly string[], options: CliOptions = {}): CliProcess {
  const [program, ...before] = options.command ?? [process.execPath, ...NODE_FLAGS, ENTRY];
  const child = spawn(program ?? process.execPath, [...before, ...args], {
    cwd: options.cwd ?? tmpdir(),
    // Nothing is inherited: a key or a database of the machine must not decide a test.
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise<CliResult>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return {
    child,
    exited,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout);
          if (match !== null) resolve(match);
        };
        child.stdout.on('data', look);
        child.once('close', () => reject(new Error(`ended without ${pattern}: ${stdout}${stderr}`)));
        look();
      }),
  };
}

/** Runs a command line to its end. */
export function runCli(
  t: Pick<TestContext, 'after'>,
  args: readonly string[],
  options?: CliOptions,
): Promise<CliResult> {
  return startCli(t, args, options).exited;
}

/** Starts a gateway on a free port and waits until it listens. */
export async function startGateway(
  t: Pick<TestContext, 'after'>,
  options: CliOptions & { readonly args?: readonly string[]; readonly dataDir?: string } = {},
): Promise<CliProcess & { readonly url: string }> {
  const dataDir = options.dataDir ?? makeFolder(t);
  const gateway = startCli(t, ['--port', '0', '--data-dir', dataDir, ...(options.args ?? [])], options);
  const [, url] = await gateway.until(/listening on (http:\/\/\S+)\n/);
  return { ...gateway, url: url ?? '' };
}

/** An empty folder that is gone after the test. */
export function makeFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
