import { writeSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Of one file. `scripts/test.ts` bounds each of its tests. */
const FILE_MS_MAX = 600_000;
/** How long the process of a group may stay alive after its last test. */
const LINGER_MS_MAX = 30_000;
const STANDARD_ERROR = 2;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The test files that a pattern names, from the project's root, in order. */
export async function filesOf(pattern: string): Promise<readonly string[]> {
  return (await Array.fromAsync(glob(pattern, { cwd: ROOT, exclude: ['**/node_modules'] }))).toSorted();
}

/**
 * Runs test files in this one process, one after the other: a process of its own costs each of them the start of a whole
 * gateway, which is more than most of their tests do. A suite a file keeps the hooks of one file away from the tests of the
 * others. Node's runner begins files in the order of their paths: `tests/all-together` comes early, since it takes longest.
 */
export async function runTogether(pattern: string): Promise<void> {
  // Some tests wait for what holds no handle of the event loop: without one the process would end under them. No `after`
  // clears it, since the root's run as soon as the first suite has ended.
  const handle = setInterval(() => undefined, 60_000);
  for (const file of await filesOf(pattern)) {
    await describe(file, { timeout: FILE_MS_MAX }, async () => {
      await import(pathToFileURL(path.join(ROOT, file)).href);
    });
  }
  clearInterval(handle);
  endWhenIdle(pattern);
}

/**
 * What a test left open keeps this process alive, and Node's runner waits for it without a word: after a while it is named,
 * and the process ends as its tests did.
 */
function endWhenIdle(pattern: string): void {
  const timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().filter((name) => name !== 'Timeout');
    writeSync(STANDARD_ERROR, `${pattern}: all tests are over, and this keeps the process alive: ${open.join(', ')}\n`);
    process.exit();
  }, LINGER_MS_MAX);
  timer.unref();
}
