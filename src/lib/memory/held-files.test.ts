import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createByteBudget } from './byte-budget.ts';
import { NoMemoryError } from './growing-bytes.ts';
import { HeldFiles } from './held-files.ts';

const KB = 1_024;
const { signal } = new AbortController();
const create = (): ReturnType<typeof createByteBudget> =>
  createByteBudget({ bytesMax: 512 * KB, waitMs: 5, waitingMax: 8 });

test('holds what all files take together, and what stays of each once it is here', async () => {
  const budget = create();
  const files = new HeldFiles(budget, signal);
  const [one, other] = [files.open(), files.open()];
  await Promise.all([one.hold(128 * KB), other.hold(256 * KB)]);
  assert.equal(budget.taken, 384 * KB);
  one.keep(100 * KB);
  other.keep(0);
  assert.equal(budget.taken, 100 * KB);
  assert.equal(one.hold(50 * KB), undefined);
  files.close();
  assert.equal(budget.taken, 0);
});

test('waits for its own files before it says that there is no memory', async () => {
  const budget = create();
  const files = new HeldFiles(budget, signal);
  const [one, other] = [files.open(), files.open()];
  await one.hold(400 * KB);
  const late = other.hold(300 * KB);
  one.keep(200 * KB);
  await late;
  assert.equal(budget.taken, 512 * KB);
  files.close();
});

test('never waits for itself: files that can never fit together are refused at once', async () => {
  const budget = createByteBudget({ bytesMax: 512 * KB, waitMs: 600_000, waitingMax: 8 });
  const files = new HeldFiles(budget, signal);
  const [one, other] = [files.open(), files.open()];
  await Promise.all([one.hold(200 * KB), other.hold(200 * KB)]);
  const [first, second] = await Promise.allSettled([one.hold(400 * KB), other.hold(400 * KB)]);
  assert.ok(first.status === 'rejected' && first.reason instanceof NoMemoryError);
  assert.equal(second.status, 'fulfilled', 'the memory of the first is free again');
  files.close();
});

test('waits for the files of other requests no longer than the budget lets it', async () => {
  const budget = create();
  const taken = await budget.take(400 * KB, signal);
  const files = new HeldFiles(budget, signal);
  await assert.rejects(async () => files.open().hold(200 * KB), NoMemoryError);
  taken?.shrink(0);
  files.close();
  assert.equal(budget.taken, 0);
});
