// Builds the dashboard into dist/: `prepare` of the workspace, so plain JavaScript for whatever Node npm finds.
// Whatever happens, the exit code is 0 and dist/failed.txt says why: a broken dashboard must never break the installation of a
// gateway. `--strict`, for checks, fails instead; `--hash` prints what dist/build.json should hold and builds nothing.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compressAssets } from './build/compress.js';
import { checkSizes } from './build/sizes.js';
import { hashSources } from './build/sources.js';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const DIST = path.join(HERE, 'dist');
/** A build beside the one that is served; it takes its place as a whole. */
const NEXT = path.join(HERE, 'dist.next');
const BUILD_MS_MAX = 120_000;
const LINES_KEPT = 60;

const isStrict = process.argv.includes('--strict');
const hash = hashSources(HERE);

if (process.argv.includes('--hash')) process.stdout.write(`${hash}\n`);
else await main();

async function main() {
  const vite = findVite();
  if (vite === undefined) return say('dashboard: not built, its build tools are not installed (npm ci --omit=dev)');
  if (!isStrict && readBuiltHash() === hash) return;
  try {
    await build(vite);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    mkdirSync(DIST, { recursive: true });
    writeFileSync(path.join(DIST, 'failed.txt'), `${reason}\n`);
    say(`dashboard: the build failed, the gateway works without it:\n${reason}`);
    if (isStrict) process.exitCode = 1;
  } finally {
    rmSync(NEXT, { recursive: true, force: true });
  }
}

async function build(vite) {
  rmSync(NEXT, { recursive: true, force: true });
  await run(process.execPath, [vite, 'build', '--outDir', NEXT, '--emptyOutDir', '--logLevel', 'warn']);
  const problems = checkSizes(NEXT, path.join(HERE, 'size-limits.json'));
  if (problems.length > 0) throw new Error(problems.join('\n'));
  rmSync(path.join(NEXT, '.vite'), { recursive: true, force: true });
  await compressAssets(NEXT);
  writeFileSync(path.join(NEXT, 'build.json'), `${JSON.stringify({ hash })}\n`);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(NEXT, DIST);
}

/** A child process: a machine with little memory ends it, and not the installation. */
function run(command, args) {
  const child = spawn(command, args, { cwd: HERE, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8');
    output.on('data', (text) => {
      lines.push(...text.split('\n'));
      lines.splice(0, Math.max(0, lines.length - LINES_KEPT));
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), BUILD_MS_MAX);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve();
      else reject(new Error(`vite build ended with ${signal ?? `exit code ${code}`}\n${lines.join('\n').trim()}`));
    });
  });
}

function findVite() {
  try {
    const manifest = createRequire(import.meta.url).resolve('vite/package.json');
    const file = path.join(path.dirname(manifest), 'bin/vite.js');
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

function readBuiltHash() {
  try {
    return JSON.parse(readFileSync(path.join(DIST, 'build.json'), 'utf8')).hash;
  } catch {
    return undefined;
  }
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
