// `npm run dev`: the gateway, started again when a source or the catalog changes, on the same data. `node --watch` waits
// a fifth of a second after each change, and as long as requests are open.
import { spawn, type ChildProcess } from 'node:child_process';
import { watch } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
/** Editors write a file in several steps. */
const SETTLED_MS = 30;
/** For requests under way; a second signal ends them. What was charged is in the journal. */
const GRACE_MS = 200;
const FILES = /(?<!\.test)\.(?:ts|json)$/;

let gateway = start();
let timer: NodeJS.Timeout | undefined;
let isRestarting = false;

watch(path.join(ROOT, 'src'), { recursive: true }, (_event, name) => {
  if (name === null || !FILES.test(name)) return;
  clearTimeout(timer);
  timer = setTimeout(() => void restart(name), SETTLED_MS);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isRestarting = true;
    if (hasEnded(gateway)) process.exit(0);
    gateway.once('exit', (code) => process.exit(code ?? 0));
    gateway.kill(signal);
  });

function start(): ChildProcess {
  return spawn(
    process.execPath,
    ['--max-semi-space-size=32', path.join(ROOT, 'src/main.ts'), ...process.argv.slice(2)],
    {
      stdio: 'inherit',
    },
  ).on('exit', (code) => {
    if (!isRestarting)
      process.stderr.write(`The gateway ended (${code ?? 'by a signal'}); a change starts it again.\n`);
  });
}

async function restart(name: string): Promise<void> {
  if (isRestarting) return;
  isRestarting = true;
  const begun = performance.now();
  await stop(gateway);
  isRestarting = false;
  gateway = start();
  process.stderr.write(`${name} changed; stopped after ${Math.round(performance.now() - begun)} ms, starting.\n`);
}

async function stop(running: ChildProcess): Promise<void> {
  if (hasEnded(running)) return;
  const ended = new Promise((resolve) => running.once('exit', resolve));
  running.kill('SIGTERM');
  const second = setTimeout(() => running.kill('SIGTERM'), GRACE_MS);
  await ended;
  clearTimeout(second);
}

function hasEnded(running: ChildProcess): boolean {
  return running.exitCode !== null || running.signalCode !== null;
}
