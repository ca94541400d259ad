import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createByteBudget, type BytesTaken } from './byte-budget.ts';

const { signal } = new AbortController();
const create = (waitMs = 60_000): ReturnType<typeof createByteBudget> =>
  createByteBudget({ bytesMax: 100, waitMs, waitingMax: 2 });

test('lets requests wait for returned bytes, first in, first out', async () => {
  const budget = create();
  const first = await budget.take(80, signal);
  const order: string[] = [];
  const large = budget.take(60, signal).then((taken) => (order.push('large'), taken));
  const small = budget.take(10, signal).then((taken) => (order.push('small'), taken));
  assert.equal(budget.taken, 80);
  first?.shrink(30);
  await Promise.all([large, small]);
  assert.deepEqual(order, ['large', 'small']);
  assert.equal(budget.taken, 100);
});

test('gives nothing after a long wait, beyond the queue, or once aborted', async () => {
  const budget = create(5);
  const first = await budget.take(100, signal);
  const over = new AbortController();
  const waits = [budget.take(1, signal), budget.take(1, over.signal)];
  assert.equal(await budget.take(1, signal), undefined, 'the line is full');
  over.abort();
  assert.deepEqual(await Promise.all(waits), [undefined, undefined]);
  first?.shrink(0);
  assert.equal(budget.taken, 0);
});

test('serves the requests behind one that gives up', async () => {
  const budget = create();
  await budget.take(50, signal);
  const over = new AbortController();
  const large = budget.take(90, over.signal);
  const small = budget.take(10, signal);
  over.abort();
  assert.equal(await large, undefined);
  assert.notEqual(await small, undefined);
});

test('cuts a request to the whole budget, so that it can be met at all', async () => {
  const budget = create();
  const all = await budget.take(1_000, signal);
  assert.equal(budget.taken, 100);
  all?.shrink(1_000);
  assert.equal(budget.taken, 100);
});

test('never exceeds the budget and ends at zero, whatever is taken and returned', async () => {
  const preferences = fc.array(fc.tuple(fc.nat(150), fc.nat(150)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(preferences, async (given) => {
      const budget = createByteBudget({ bytesMax: 100, waitMs: 60_000, waitingMax: 100 });
      const use = async (taken: BytesTaken | undefined, left: number): Promise<void> => {
        taken?.shrink(left);
        assert.ok(budget.taken <= 100 && budget.taken >= 0);
        await Promise.resolve();
        taken?.shrink(0);
      };
      await Promise.all(given.map(async ([bytes, left]) => use(await budget.take(bytes, signal), left)));
      assert.equal(budget.taken, 0);
    }),
  );
});
