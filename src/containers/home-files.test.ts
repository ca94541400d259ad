import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { listHomeFiles, openHomeFile } from './home-files.ts';

async function makeHome(t: TestContext): Promise<{ readonly home: string; readonly outside: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'home-files-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const home = join(folder, 'home');
  await mkdir(home);
  const outside = join(folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'of the host');
  return { home, outside };
}

async function textAt(home: string, path: string): Promise<string | undefined> {
  const file = await openHomeFile(home, path);
  try {
    return await file?.readFile('utf8');
  } finally {
    await file?.close();
  }
}

suite('files of a home', { skip: process.platform !== 'linux' && 'containers are for Linux' }, () => {
  // @spec container-12
  test('are regular files by path, hidden ones included, and no caches', async (t) => {
    const { home } = await makeHome(t);
    for (const folder of ['b', 'b/c', '.git', '.cache', '.hidden']) await mkdir(join(home, folder));
    for (const path of ['z', 'b/c/deep', '.hidden/a', '.git/x', '.cache/x', '.shell-state', 'ä ö'])
      await writeFile(join(home, path), path);
    const files = await listHomeFiles(home);
    assert.deepEqual(
      files.map(({ path }) => path),
      ['.hidden/a', 'b/c/deep', 'z', 'ä ö'],
    );
    assert.equal(files.find(({ path }) => path === 'z')?.bytes, 1);
    assert.equal(await textAt(home, 'b/c/deep'), 'b/c/deep');
    assert.equal(await textAt(home, 'b/c'), undefined, 'a folder is no file');
  });

  // @spec container-12
  test('lead nowhere: no link, pipe, device or path of another folder is opened', async (t) => {
    const { home, outside } = await makeHome(t);
    await symlink(join(outside, 'secret'), join(home, 'link'));
    await symlink(outside, join(home, 'folder'));
    await symlink('link', join(home, 'link-of-a-link'));
    execFileSync('mkfifo', [join(home, 'pipe')]);
    await writeFile(join(home, 'plain'), 'fine');
    assert.deepEqual(
      (await listHomeFiles(home)).map(({ path }) => path),
      ['plain'],
    );
    const odd = [
      'link',
      'folder/secret',
      'link-of-a-link',
      'pipe',
      '../outside/secret',
      './plain',
      'plain/',
      '/etc/passwd',
      'a\0b',
      '',
    ];
    for (const path of odd) assert.equal(await textAt(home, path), undefined, path);
    const long = Array.from({ length: 17 }, () => 'a').join('/');
    assert.equal(await textAt(home, long), undefined);
    assert.equal(await textAt(join(home, 'folder'), 'secret'), undefined, 'nor is a home that is a link');
  });

  test('stay inside while a command exchanges folders for links', async (t) => {
    const { home, outside } = await makeHome(t);
    await mkdir(join(home, 'real'));
    await writeFile(join(home, 'real', 'secret'), 'of the home');
    await symlink(outside, join(home, 'fake'));
    const over = new AbortController();
    const exchange = (async () => {
      while (!over.signal.aborted) {
        await rename(join(home, 'real'), join(home, 'aside'));
        await rename(join(home, 'fake'), join(home, 'real'));
        await rename(join(home, 'real'), join(home, 'fake'));
        await rename(join(home, 'aside'), join(home, 'real'));
      }
    })();
    for (let times = 0; times < 300; times++) {
      const found = await textAt(home, 'real/secret');
      assert.ok(found === undefined || found === 'of the home', found);
    }
    over.abort();
    await exchange;
  });

  test('are listed to a bound, however many there are', async (t) => {
    const { home } = await makeHome(t);
    await mkdir(join(home, 'many'));
    execFileSync('bash', ['-c', 'cd "$1/many" && touch f{1..10100}', 'bash', home]);
    assert.ok((await listHomeFiles(home)).length <= 10_000);
  });
});
