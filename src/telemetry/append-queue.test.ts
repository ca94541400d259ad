import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createAppendQueue, type AppendBatch, type AppendQueueOptions } from './append-queue.ts';

const AWAY = new Error('away');

function build(
  store: AppendBatch<number>,
  options: Partial<Pick<AppendQueueOptions<number>, 'itemsMax' | 'retryDelaysMs' | 'gatherMs'>> = {},
) {
  const batches: (readonly number[])[] = [];
  const lost: { item: number; message: string }[] = [];
  const queue = createAppendQueue<number>({
    appendBatch(items) {
      batches.push(items);
      return store(items);
    },
    onLost: (item, { message }) => lost.push({ item, message }),
    itemsMax: 100,
    retryDelaysMs: [1, 1],
    ...options,
  });
  return { batches, lost, queue };
}

/** Makes a store that answers when the test says so. `called` settles with its first batch. */
function createHeldStore() {
  const called = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const store: AppendBatch<number> = () => {
    called.resolve();
    return opened.promise;
  };
  return { store, called: called.promise, open: () => opened.resolve() };
}

test('batches the items of one turn of the event loop, and later items next', async () => {
  const { store, called, open } = createHeldStore();
  const { batches, queue } = build(store);
  const first = [queue.append(1), queue.append(2)];
  await called;
  const second = [queue.append(3), queue.append(4)];
  open();
  await Promise.all([...first, ...second]);
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4],
  ]);
});

test('gathers the items of a time where that is wanted, and waits for none at the end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { batches, queue } = build(() => Promise.resolve(), { gatherMs: 1_000 });
  const first = queue.append(1);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  const second = queue.append(2);
  t.mock.timers.tick(999);
  assert.deepEqual(batches, []);
  t.mock.timers.tick(1);
  await Promise.all([first, second]);
  assert.deepEqual(batches, [[1, 2]]);
  const last = queue.append(3);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  await queue.close();
  await last;
  assert.deepEqual(batches, [[1, 2], [3]]);
});

test('settles an item only once its batch is stored', async () => {
  const { store, called, open } = createHeldStore();
  const { queue } = build(store);
  let isSettled = false;
  const item = queue.append(1).then(() => (isSettled = true));
  await called;
  assert.equal(isSettled, false);
  open();
  await item;
});

test('retries a batch that failed unchanged, ahead of later items', async () => {
  let failures = 2;
  const { batches, lost, queue } = build(() => (failures-- > 0 ? Promise.reject(AWAY) : Promise.resolve()));
  const first = queue.append(1);
  await new Promise(setImmediate);
  await Promise.all([first, queue.append(2)]);
  assert.deepEqual(batches, [[1], [1], [1], [2]]);
  assert.deepEqual(lost, []);
});

test('gives up a batch that keeps failing after its tries, reports each item once, and rejects no promise', async () => {
  const { batches, lost, queue } = build(() => Promise.reject(AWAY));
  await Promise.all([queue.append(1), queue.append(2)]);
  assert.equal(batches.length, 3);
  assert.deepEqual(lost, [
    { item: 1, message: 'away' },
    { item: 2, message: 'away' },
  ]);
});

test('gives up the newest item at once when the queue is full', async () => {
  const { store, called, open } = createHeldStore();
  const { lost, queue } = build(store, { itemsMax: 2 });
  const kept = [queue.append(1), queue.append(2)];
  await called;
  await queue.append(3);
  assert.deepEqual(lost, [{ item: 3, message: 'Too many rows wait for the store.' }]);
  open();
  await Promise.all(kept);
});

test('closes without waiting for a retry: tries once more, then gives the items up', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const tried = Promise.withResolvers<void>();
  const { batches, lost, queue } = build(
    () => {
      tried.resolve();
      return Promise.reject(AWAY);
    },
    { retryDelaysMs: [60_000] },
  );
  void queue.append(1);
  await tried.promise;
  await new Promise(setImmediate);
  await queue.close();
  mock.timers.reset();
  assert.equal(batches.length, 2);
  assert.deepEqual(lost, [{ item: 1, message: 'away' }]);
});

test('reports an item that comes after the close as lost', async () => {
  const { lost, queue } = build(() => Promise.resolve());
  await queue.close();
  await queue.append(1);
  assert.deepEqual(lost, [{ item: 1, message: 'The store is closed.' }]);
});
