import { glob } from 'node:fs/promises';
import path from 'node:path';
import { describe } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Every unit test in one process, one file after the other: a process for each of 300 small files would take five times
 * the processor time that their tests do. A suite a file keeps the hooks of one file away from the tests of the others.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const files = (await Array.fromAsync(glob('src/**/*.test.ts', { cwd: root }))).toSorted();

// Some tests wait for what holds no handle of the event loop: without one the process would end under them. No `after`
// clears it, since the root's run as soon as the first suite has ended.
const handle = setInterval(() => undefined, 60_000);
for (const file of files) {
  await describe(file, async () => {
    await import(pathToFileURL(path.join(root, file)).href);
  });
}
clearInterval(handle);
