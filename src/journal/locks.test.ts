import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { claimStream, haveLocks, removeStrayLocks, type TakeLock } from './locks.ts';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'locks-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Takes every lock but the held ones. */
function lockAllBut(held: readonly string[] = []): TakeLock {
  return (path) => {
    writeFileSync(`${path}.lock`, '');
    return held.some((stream) => path.endsWith(stream)) ? 'held' : { release: () => undefined };
  };
}

const nameOf = (number: number) => `${String(number).padStart(15, '0')}-abcdefABCDEF`;

test('selects another name where the file of its lock was removed before it was locked', async (t) => {
  const folder = await makeFolder(t);
  let names = 0;
  const take: TakeLock = (path) => {
    const lock = lockAllBut()(path);
    if (path.endsWith(nameOf(1))) rmSync(`${path}.lock`);
    return lock;
  };
  const { stream, lock } = claimStream(folder, take, () => nameOf(++names));
  assert.deepEqual([stream, lock !== undefined], [nameOf(2), true]);
  assert.deepEqual(await readdir(folder), [`${nameOf(2)}.lock`]);
});

for (const answer of ['held', 'unknown'] as const)
  test(`knows a file system without locks that work, where each new lock is ${answer}`, async (t) => {
    const folder = await makeFolder(t);
    const take: TakeLock = () => answer;
    assert.equal(claimStream(folder, take, () => nameOf(1)).lock, undefined);
    assert.equal(haveLocks(folder, take), false);
    assert.equal(haveLocks(folder, lockAllBut()), true);
    assert.deepEqual(await readdir(folder), []);
  });

test('removes the lock files of processes that are gone and have no segment', async (t) => {
  const folder = await makeFolder(t);
  const kept = [`${nameOf(1)}.lock`, `${nameOf(2)}.lock`, 'adoption.lock', `${nameOf(4)}.0.segment`];
  const gone = [`${nameOf(3)}.lock`, `${nameOf(3)}.lock-journal`, `${nameOf(5)}.lock-journal`];
  for (const name of [...kept, ...gone]) writeFileSync(join(folder, name), '');
  await removeStrayLocks(folder, lockAllBut([nameOf(1)]), new Set([nameOf(2)]));
  assert.deepEqual((await readdir(folder)).toSorted(), kept.toSorted());
});
