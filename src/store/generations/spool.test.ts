import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openSpool, type Spool, type SpoolOptions } from './spool.ts';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'unstored');
}

function read(text: string): readonly string[] | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.map(String) : undefined;
  } catch {
    return undefined;
  }
}

let nowMs = 1_790_000_000_000;

function open(folder: string, options: Partial<SpoolOptions<string>> = {}): Spool<string> {
  return openSpool({ folder, nowMs: () => nowMs++, read, onUnreadable: (file) => assert.fail(file), ...options });
}

async function drained(spool: Spool<string>): Promise<readonly string[]> {
  const items: string[] = [];
  await spool.drain(async (some) => void items.push(...some));
  return items;
}

test('gives kept items to the next process, oldest first, and none after they were stored', async (t) => {
  const folder = await makeFolder(t);
  const spool = open(folder);
  assert.deepEqual([spool.count(), await drained(spool)], [0, []], 'nothing, not even a folder');
  assert.equal(await spool.keep(['a', 'b']), true);
  assert.equal(await spool.keep(['c']), true);
  assert.equal(spool.count(), 3);
  const next = open(folder);
  assert.equal(next.count(), 3);
  assert.deepEqual(await drained(next), ['a', 'b', 'c']);
  assert.deepEqual([next.count(), await readdir(folder)], [0, []]);
  assert.deepEqual([await drained(spool), spool.count()], [[], 0], 'another process took them');
});

test('lets only the owner read kept items', async (t) => {
  const folder = await makeFolder(t);
  await open(folder).keep(['a']);
  const [file = ''] = await readdir(folder);
  assert.deepEqual([(await stat(folder)).mode & 0o777, (await stat(join(folder, file))).mode & 0o777], [0o700, 0o600]);
});

test('keeps what cannot be stored and everything later, and drops what was stored before', async (t) => {
  const folder = await makeFolder(t);
  const spool = open(folder);
  for (const item of ['a', 'b', 'c']) await spool.keep([item]);
  const away = new Error('away');
  await assert.rejects(
    spool.drain(async ([item]) => {
      if (item === 'b') throw away;
    }),
    away,
  );
  assert.equal(spool.count(), 2);
  assert.deepEqual(await drained(open(folder)), ['b', 'c']);
});

test('shares files between many items at once, in order and none too large', async (t) => {
  const folder = await makeFolder(t);
  const spool = open(folder);
  const items = Array.from({ length: 1_001 }, (_, index) => String(index));
  const kept = await Promise.all(items.map((item) => spool.keep([item])));
  assert.ok(kept.every(Boolean));
  assert.equal((await readdir(folder)).length, 5);
  assert.deepEqual(await drained(spool), items);
});

test('keeps nothing beyond its bounds, and loses nothing that it kept', async (t) => {
  const folder = await makeFolder(t);
  const small = open(folder, { bytesMax: 20 });
  assert.equal(await small.keep(['0123456789']), true);
  assert.equal(await small.keep(['0123456789']), false);
  assert.equal(await open(folder, { bytesMax: 20 }).keep(['0123456789']), false, 'what was there before counts');
  const many = Array.from({ length: 20_001 }, () => 'x');
  assert.equal(await open(folder).keep(many), false);
  assert.deepEqual(await drained(small), ['0123456789']);
  assert.equal(await small.keep(['0123456789']), true, 'there is room again');
});

test('reports a disk that refuses, and tries again the next time', async (t) => {
  const folder = await makeFolder(t);
  const spool = open(folder);
  await writeFile(folder, 'a file where the folder should be');
  assert.equal(await spool.keep(['a']), false);
  await rm(folder);
  assert.equal(await spool.keep(['b']), true);
  assert.deepEqual(await drained(spool), ['b']);
});

test('reports a place where no folder can be made', async (t) => {
  const folder = await makeFolder(t);
  await writeFile(folder, 'a file');
  assert.throws(() => open(folder), /ENOTDIR/);
});

test('sets a file without items aside, and stores the others', async (t) => {
  const folder = await makeFolder(t);
  const unreadable: string[] = [];
  const spool = open(folder, { onUnreadable: (file) => unreadable.push(file) });
  await spool.keep(['a']);
  const [file = ''] = await readdir(folder);
  await spool.keep(['b']);
  await writeFile(join(folder, file), '["torn');
  assert.deepEqual(await drained(spool), ['b']);
  assert.deepEqual(unreadable, [`${join(folder, file)}.unreadable`]);
  assert.equal(await readFile(unreadable[0] ?? '', 'utf8'), '["torn');
  assert.deepEqual([await drained(spool), unreadable.length], [[], 1], 'once');
});

test('ignores the half-written file of a dead process, and removes it when it is old', async (t) => {
  const folder = await makeFolder(t);
  const spool = open(folder);
  await spool.keep(['a']);
  const [file = ''] = await readdir(folder);
  const [young, old] = [`${file}1.partial`, `${file}2.partial`];
  for (const name of [young, old]) await writeFile(join(folder, name), '["x"');
  await utimes(join(folder, young), nowMs / 1_000, nowMs / 1_000);
  await utimes(join(folder, old), nowMs / 1_000 - 3_601, nowMs / 1_000 - 3_601);
  assert.equal(open(folder).count(), 1);
  assert.deepEqual(await drained(spool), ['a']);
  assert.deepEqual(await readdir(folder), [young]);
});

test('keeps items that come while others are drained', async (t) => {
  const spool = open(await makeFolder(t));
  const items = Array.from({ length: 100 }, (_, index) => String(index));
  const taken: string[] = [];
  const take = () => spool.drain(async (some) => void taken.push(...some));
  for (const item of items) await Promise.all([take(), spool.keep([item])]);
  await take();
  assert.deepEqual(taken, items);
  assert.equal(spool.count(), 0);
});
