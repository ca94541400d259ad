import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createAppendQueue, type AppendBatch, type AppendQueueOptions } from './append-queue.ts';

const AWAY = new Error('away');

interface Harness {
  readonly batches: (readonly number[])[];
  readonly lost: { readonly item: number; readonly message: string }[];
  readonly queue: ReturnType<typeof createAppendQueue<number>>;
}

function build(
  store: AppendBatch<number>,
  options: Partial<Pick<AppendQueueOptions<number>, 'itemsMax' | 'retryDelaysMs' | 'keep' | 'keepAfterMs'>> = {},
): Harness {
  const batches: (readonly number[])[] = [];
  const lost: { item: number; message: string }[] = [];
  const queue = createAppendQueue<number>({
    appendBatch(items) {
      batches.push(items);
      return store(items);
    },
    isTransient: (error) => error === AWAY,
    onLost: (item, { message }) => lost.push({ item, message }),
    retryDelaysMs: [1, 1],
    ...options,
  });
  return { batches, lost, queue };
}

/** Makes a store that answers when the test says so. `called` settles with its first batch. */
function createHeldStore() {
  const called = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const store: AppendBatch<number> = async () => {
    called.resolve();
    await opened.promise;
    return [];
  };
  return { store, called: called.promise, open: () => opened.resolve() };
}

test('batches the items of one turn of the event loop, and batches later items next', async () => {
  const { store, called, open } = createHeldStore();
  const { batches, queue } = build(store);
  const first = [queue.append(1), queue.append(2)];
  await called;
  const second = [queue.append(3), queue.append(4)];
  assert.equal(queue.pending(), 4);
  open();
  await Promise.all([...first, ...second]);
  assert.deepEqual(batches, [
    [1, 2],
    [3, 4],
  ]);
  assert.equal(queue.pending(), 0);
});

test('sends the item after a lone one at once, and batches the items that come with it next', async () => {
  const { batches, queue } = build(async () => []);
  await queue.append(1);
  const appended = [queue.append(2), queue.append(3), queue.append(4)];
  assert.deepEqual(batches, [[1], [2]]);
  await Promise.all(appended);
  assert.deepEqual(batches, [[1], [2], [3, 4]]);
});

test('settles an item only once its batch is stored', async () => {
  const { store, called, open } = createHeldStore();
  const { queue } = build(store);
  let settled = false;
  const appended = queue.append(1).finally(() => {
    settled = true;
  });
  await called;
  assert.equal(settled, false);
  open();
  await appended;
});

test('retries a batch that failed for a time unchanged, ahead of later items', async () => {
  let failures = 2;
  const { batches, lost, queue } = build(async () => {
    if (failures-- > 0) throw AWAY;
    return [];
  });
  const first = queue.append(1);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  void queue.append(2);
  await first;
  await queue.close();
  assert.deepEqual(batches, [[1], [1], [1], [2]]);
  assert.deepEqual(lost, []);
});

test('waits between tries as configured', async () => {
  const waits: (number | undefined)[] = [];
  const { queue } = build(() => Promise.reject(AWAY), { retryDelaysMs: [3, 5, 7] });
  const timeouts = mock.method(globalThis, 'setTimeout', (callback: () => void, delayMs?: number) => {
    waits.push(delayMs);
    setImmediate(callback);
  });
  await queue.append(1);
  timeouts.mock.restore();
  assert.deepEqual(waits, [3, 5, 7]);
});

test('gives up a batch that keeps failing after its tries, reports each item once, and rejects no promise', async () => {
  const { batches, lost, queue } = build(() => Promise.reject(AWAY));
  await Promise.all([queue.append(1), queue.append(2)]);
  assert.equal(batches.length, 3);
  assert.deepEqual(lost, [
    { item: 1, message: 'away' },
    { item: 2, message: 'away' },
  ]);
  assert.equal(queue.pending(), 0);
});

test('does not retry a permanent error', async () => {
  const { batches, lost, queue } = build(() => Promise.reject(new Error('no such table')));
  await queue.append(1);
  assert.equal(batches.length, 1);
  assert.deepEqual(lost, [{ item: 1, message: 'no such table' }]);
});

test('reports a refused item, and stores its neighbours', async () => {
  const { lost, queue } = build(async () => [{ index: 1, error: new Error('refused') }]);
  await Promise.all([queue.append(1), queue.append(2), queue.append(3)]);
  assert.deepEqual(lost, [{ item: 2, message: 'refused' }]);
});

test('gives up the newest item at once when the queue is full', async () => {
  const { store, open } = createHeldStore();
  const { lost, queue } = build(store, { itemsMax: 2 });
  const kept = [queue.append(1), queue.append(2)];
  await queue.append(3);
  assert.deepEqual(lost, [{ item: 3, message: 'Too many rows wait for the store.' }]);
  open();
  await Promise.all(kept);
  assert.equal(lost.length, 1);
});

test('stores waiting items at the close', async () => {
  const { batches, lost, queue } = build(async () => []);
  void queue.append(1);
  void queue.append(2);
  await queue.close();
  assert.deepEqual([batches, lost, queue.pending()], [[[1, 2]], [], 0]);
});

test('closes without waiting for a retry: tries once more, then gives the items up', async () => {
  const failed = Promise.withResolvers<void>();
  const store = (): Promise<never> => {
    // After this turn the queue is in its pause.
    setImmediate(() => failed.resolve());
    return Promise.reject(AWAY);
  };
  const { batches, lost, queue } = build(store, { retryDelaysMs: [3_600_000] });
  void queue.append(1);
  await failed.promise;
  await queue.close();
  assert.equal(batches.length, 2);
  assert.deepEqual(lost, [{ item: 1, message: 'away' }]);
  assert.equal(queue.pending(), 0);
});

test('reports an item that comes after the close as lost', async () => {
  const { lost, queue } = build(async () => []);
  await queue.close();
  await queue.append(1);
  assert.deepEqual(lost, [{ item: 1, message: 'The store is closed.' }]);
});

test('is behind while an item waits for long, but not after it is stored or given up, nor for a new item', async () => {
  let nowMs = 0;
  let outcome: 'stored' | 'given up' = 'stored';
  let called = Promise.withResolvers<void>();
  let opened = Promise.withResolvers<void>();
  const queue = createAppendQueue<number>({
    async appendBatch() {
      called.resolve();
      await opened.promise;
      if (outcome === 'given up') throw new Error('read only');
      return [];
    },
    isTransient: () => false,
    onLost: () => assert.equal(outcome, 'given up'),
    clock: { monotonicMs: () => nowMs },
  });
  const seen: boolean[] = [];
  for (outcome of ['stored', 'given up'] as const) {
    called = Promise.withResolvers<void>();
    opened = Promise.withResolvers<void>();
    const first = queue.append(1);
    seen.push(queue.isBehind());
    await called.promise;
    nowMs += 1_499;
    const second = queue.append(2);
    seen.push(queue.isBehind());
    nowMs += 1;
    seen.push(queue.isBehind());
    opened.resolve();
    await first;
    seen.push(queue.isBehind());
    await second;
  }
  assert.deepEqual(seen, [false, false, true, false, false, false, true, false]);
});

test('reports once that items begin to wait, and once that they are stored again', async () => {
  let failures = 2;
  const reported: (readonly [isStuck: boolean, error: unknown])[] = [];
  const queue = createAppendQueue<number>({
    appendBatch() {
      if (failures-- > 0) return Promise.reject(AWAY);
      return Promise.resolve([]);
    },
    isTransient: () => true,
    onStuck: (isStuck, error) => reported.push([isStuck, error]),
    onLost: () => assert.fail('nothing is lost'),
    retryDelaysMs: [1, 1],
  });
  await queue.append(1);
  await queue.append(2);
  assert.deepEqual(reported, [
    [true, AWAY],
    [false, undefined],
  ]);
});

/** Makes a `keep` that keeps everything, or nothing. */
function createKeep(isGood = true) {
  const kept: (readonly number[])[] = [];
  const keep = (items: readonly number[]): Promise<boolean> => {
    if (isGood) kept.push(items);
    return Promise.resolve(isGood);
  };
  return { kept, keep };
}

test('keeps a long-tried batch elsewhere, later ones after one try, and settles their promises', async () => {
  const { kept, keep } = createKeep();
  const { batches, lost, queue } = build(() => Promise.reject(AWAY), { keep, retryDelaysMs: Array(30).fill(1) });
  await Promise.all([queue.append(1), queue.append(2)]);
  assert.equal(batches.length, 6);
  await queue.append(3);
  assert.equal(batches.length, 7);
  assert.deepEqual([kept, lost, queue.pending(), queue.isBehind()], [[[1, 2], [3]], [], 0, false]);
});

test('keeps elsewhere what a silent store has and what waits behind it, and stores it when the store is back', async () => {
  const { kept, keep } = createKeep();
  const answers: PromiseWithResolvers<readonly never[]>[] = [];
  const store: AppendBatch<number> = () => {
    const answer = Promise.withResolvers<readonly never[]>();
    answers.push(answer);
    return answers.length > 2 ? Promise.resolve([]) : answer.promise;
  };
  const { batches, lost, queue } = build(store, { keep, keepAfterMs: 1 });
  const first = queue.append(1);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, queue.append(2)]);
  assert.deepEqual([kept, queue.pending()], [[[1], [2]], 0]);
  // The store has one of the two after all; the other stays unknown.
  answers[0]?.resolve([]);
  answers[1]?.reject(AWAY);
  await queue.append(3);
  assert.deepEqual([batches, kept, lost], [[[1], [2], [3]], [[1], [2]], []]);
});

test('keeps a batch elsewhere no later when its tries take time', async () => {
  const { kept, keep } = createKeep();
  const { batches, queue } = build(() => Promise.reject(AWAY), { keep, keepAfterMs: 20, retryDelaysMs: [60_000] });
  await queue.append(1);
  assert.deepEqual([batches.length, kept], [2, [[1]]]);
});

test('leaves with a silent store what cannot be kept', async () => {
  const { keep } = createKeep(false);
  const answer = Promise.withResolvers<readonly never[]>();
  const requested = Promise.withResolvers<void>();
  const queue = createAppendQueue<number>({
    appendBatch: () => answer.promise,
    isTransient: () => true,
    keep: (items) => keep(items).finally(() => requested.resolve()),
    keepAfterMs: 1,
    onLost: () => assert.fail('nothing is lost'),
  });
  const appended = queue.append(1);
  await requested.promise;
  assert.equal(queue.pending(), 1);
  answer.resolve([]);
  await appended;
  assert.equal(queue.pending(), 0);
});

test('retries what cannot be kept, and gives it up after its tries', async () => {
  const { keep } = createKeep(false);
  let tries = 0;
  const { lost, queue } = build(() => (++tries < 9 ? Promise.reject(AWAY) : Promise.resolve([])), {
    keep,
    retryDelaysMs: Array(9).fill(1),
  });
  await queue.append(1);
  assert.deepEqual([tries, lost], [9, []]);
  const hopeless = build(() => Promise.reject(AWAY), { keep });
  await hopeless.queue.append(1);
  assert.deepEqual(hopeless.lost, [{ item: 1, message: 'away' }]);
});

test('does not keep what is refused for good', async () => {
  const { kept, keep } = createKeep();
  const { lost, queue } = build(() => Promise.reject(new Error('no such column')), { keep });
  await queue.append(1);
  assert.deepEqual([kept, lost.length], [[], 1]);
});

test('keeps items that find the queue full or closed, and those left at the close', async () => {
  const { kept, keep } = createKeep();
  const [called, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
  const store: AppendBatch<number> = () => {
    called.resolve();
    return failing.promise;
  };
  const { lost, queue } = build(store, { keep, itemsMax: 1, retryDelaysMs: [60_000] });
  const first = queue.append(1);
  await called.promise;
  await queue.append(2);
  assert.deepEqual(kept, [[2]]);
  const closed = queue.close();
  failing.reject(AWAY);
  await Promise.all([first, closed]);
  assert.deepEqual(kept, [[2], [1]]);
  await queue.append(3);
  assert.deepEqual([kept.at(-1), lost], [[3], []]);
});

test('waits at the close for items that are being kept, and is behind until then', async () => {
  const written = Promise.withResolvers<boolean>();
  const { queue } = build(() => Promise.resolve([]), { keep: () => written.promise, itemsMax: 0 });
  const appended = queue.append(1);
  assert.equal(queue.isBehind(), true);
  let isClosed = false;
  const closed = queue.close().then(() => (isClosed = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isClosed, false);
  written.resolve(true);
  await Promise.all([appended, closed]);
  assert.equal(queue.isBehind(), false);
});
