import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createByteBudget } from './byte-budget.ts';
import { GrowingBytes, NoMemoryError } from './growing-bytes.ts';

const KB = 1_024;
const { signal } = new AbortController();
const create = (): ReturnType<typeof createByteBudget> =>
  createByteBudget({ bytesMax: 300 * KB, waitMs: 5, waitingMax: 8 });

test('takes memory in steps as the value grows, and returns all of it', async () => {
  const budget = create();
  const bytes = new GrowingBytes(budget, signal);
  await bytes.hold(1);
  assert.equal(budget.taken, 128 * KB);
  assert.equal(bytes.hold(128 * KB), undefined);
  await bytes.hold(300 * KB);
  assert.equal(budget.taken, 300 * KB);
  bytes.shrink(200 * KB);
  assert.equal(budget.taken, 200 * KB);
  bytes.close();
  assert.equal(budget.taken, 0);
});

test('throws at once for a value that can never fit, and for one that finds no room in time', async () => {
  const budget = create();
  const [one, other] = [new GrowingBytes(budget, signal), new GrowingBytes(budget, signal)];
  await assert.rejects(async () => one.hold(301 * KB), NoMemoryError);
  await one.hold(200 * KB);
  await assert.rejects(async () => other.hold(100 * KB), NoMemoryError);
  one.close();
  await other.hold(100 * KB);
});

test('returns memory at once that arrives after close', async () => {
  const budget = create();
  const bytes = new GrowingBytes(budget, signal);
  const late = bytes.hold(1);
  bytes.close();
  await late;
  await bytes.hold(200 * KB);
  assert.equal(budget.taken, 0);
});
