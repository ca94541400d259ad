import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ValueStoreError } from './contract.ts';
import { createFileStore } from './file.ts';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'secrets'));
  return join(folder, 'secrets');
}

// @spec vault-22
test('reads files of secrets with each use, without the last line end', async (t) => {
  const folder = await makeFolder(t);
  const values = createFileStore(folder);
  await writeFile(join(folder, 'alpha_key'), 's3cret-a\n');
  await writeFile(join(folder, 'empty'), '\n');
  assert.equal(await values.get('alpha_key'), 's3cret-a');
  await writeFile(join(folder, 'alpha_key'), 's3cret-b');
  assert.equal(await values.get('alpha_key'), 's3cret-b');
  assert.equal(await values.get('empty'), undefined);
  assert.equal(await values.get('never'), undefined);
  assert.equal(values.writer, undefined);
});

test('follows the links of Kubernetes to the version of now, and none that leads out', async (t) => {
  const folder = await makeFolder(t);
  const values = createFileStore(folder);
  for (const version of ['one', 'two']) {
    await mkdir(join(folder, `..${version}`));
    await writeFile(join(folder, `..${version}`, 'key'), `s3cret-${version}`);
  }
  await symlink('..one', join(folder, '..data'));
  await symlink('..data/key', join(folder, 'key'));
  assert.equal(await values.get('key'), 's3cret-one');
  await symlink('..two', join(folder, '..next'));
  await rename(join(folder, '..next'), join(folder, '..data'));
  assert.equal(await values.get('key'), 's3cret-two');
  await writeFile(join(folder, '..', 'outside'), 'not a secret of ours');
  await symlink('../outside', join(folder, 'link'));
  await assert.rejects(values.get('link'), ValueStoreError);
});

test('refuses what is no file, too large, or a path', async (t) => {
  const folder = await makeFolder(t);
  const values = createFileStore(folder);
  await mkdir(join(folder, 'folder'));
  await writeFile(join(folder, 'large'), Buffer.alloc(65_537, 'x'));
  await assert.rejects(values.get('folder'), /has no file there/);
  await assert.rejects(values.get('large'), /more than 65536 bytes/);
  assert.equal(values.faultOf('.hidden-key_1'), undefined);
  for (const place of ['', '.', '..', '..data', 'a/b', '/etc/passwd', 'a\0b', 'ä', 'x'.repeat(254)])
    assert.ok(values.faultOf(place) !== undefined, place);
});
