import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { makeFolder } from './make-folder.ts';

async function scratch(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'make-folder-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

suite('make a folder', () => {
  test('makes a folder with its parents, for the owner alone, and accepts one that exists', async (t) => {
    const folder = await scratch(t);
    const path = join(folder, 'a', 'b', 'c');
    await Promise.all([makeFolder(path), makeFolder(path), makeFolder(join(folder, 'a', 'b'))]);
    await makeFolder(path);
    await makeFolder(tmpdir());
    for (const made of [path, join(folder, 'a')]) {
      const { mode } = await stat(made);
      assert.equal(mode & 0o077, 0, made);
    }
  });

  test('throws where a file has the name, or a parent is a file', async (t) => {
    const file = join(await scratch(t), 'file');
    await writeFile(file, 'x');
    await assert.rejects(makeFolder(file), { code: 'EEXIST' });
    await assert.rejects(makeFolder(join(file, 'below')), { code: 'ENOTDIR' });
  });

  test('throws in time where the system never makes a folder', { skip: process.platform !== 'linux' }, async () => {
    // In a process of its own: one that spins cannot be ended from inside.
    const script = `import { makeFolder } from ${JSON.stringify(new URL('./make-folder.ts', import.meta.url).href)};
        await makeFolder('/proc/nowhere/at/all').catch((error) => console.log(error.message));`;
    const child = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    assert.match(child.stdout, /^ENOENT: .*'\/proc\/nowhere'\n$/);
  });
});
