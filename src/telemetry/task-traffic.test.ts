import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskTrafficGroup, TaskTrafficStore } from '../store/usage/task-traffic.ts';
import { sharesOf } from './task-shares.ts';
import { watchTaskTraffic } from './task-traffic.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 1_790_000_000_000;
const LAG_MS = 60_000;

function group(taskType: string | null, model: string, changes: Partial<TaskTrafficGroup> = {}): TaskTrafficGroup {
  return {
    taskType,
    model,
    requests: 1,
    tokensPrompt: 100,
    tokensCompletion: 50,
    costNanoUsd: 1_000,
    pricedTokensPrompt: 100,
    promptNanoUsd: 500,
    ...changes,
  };
}

/** A store of records with their times that reports what was read. */
function storeOf(records: readonly (readonly [atMs: number, TaskTrafficGroup])[]) {
  const reads: (readonly [number, number])[] = [];
  const store: TaskTrafficStore = {
    read(fromMs, toMs) {
      reads.push([fromMs, toMs]);
      return Promise.resolve(records.filter(([atMs]) => atMs >= fromMs && atMs < toMs).map(([, one]) => one));
    },
    firstFrom: (fromMs) =>
      Promise.resolve(
        records
          .map(([atMs]) => atMs)
          .filter((atMs) => atMs >= fromMs)
          .toSorted((a, b) => a - b)[0],
      ),
  };
  return { store, reads };
}

/** A watch that has read all that is due. */
async function settle(watch: ReturnType<typeof watchTaskTraffic>, nowMs: number): Promise<void> {
  while (await watch.step(nowMs));
}

test('counts each record once, however often it looks for more', async () => {
  const { store, reads } = storeOf([
    [NOW_MS - 5 * DAY_MS, group('math', 'acme/one')],
    [NOW_MS - 2 * HOUR_MS, group('math', 'acme/one')],
    [NOW_MS - 2 * HOUR_MS + 1, group('math', 'acme/two', { costNanoUsd: 5_000 })],
  ]);
  const watch = watchTaskTraffic(store, LAG_MS);
  await settle(watch, NOW_MS);
  await settle(watch, NOW_MS + 1);
  assert.equal(watch.traffic('math').requests, 3);
  assert.deepEqual(watch.traffic('math').tokens, { prompt: 100, completion: 50 });
  assert.equal(reads.length, 2, 'times without records are not read');
});

test('leaves future records for later, and forgets those older than seven days', async () => {
  const { store } = storeOf([
    [NOW_MS - 7 * DAY_MS - 7 * HOUR_MS, group('math', 'acme/old')],
    [NOW_MS - DAY_MS, group('math', 'acme/one')],
    [NOW_MS - 1, group('math', 'acme/new')],
  ]);
  const watch = watchTaskTraffic(store, LAG_MS);
  await settle(watch, NOW_MS);
  assert.deepEqual(
    watch.groups().map(({ model }) => model),
    ['acme/one'],
  );
  await settle(watch, NOW_MS + LAG_MS + 1);
  assert.deepEqual(
    watch.groups().map(({ model }) => model),
    ['acme/one', 'acme/new'],
  );
  await settle(watch, NOW_MS + 7 * DAY_MS);
  assert.deepEqual(
    watch.groups().map(({ model }) => model),
    ['acme/new'],
  );
});

test('orders models by spending, and lists none without any', async () => {
  const { store } = storeOf([
    [NOW_MS - HOUR_MS, group('math', 'acme/most', { costNanoUsd: 300 })],
    [NOW_MS - HOUR_MS, group('math', 'acme/some', { costNanoUsd: 20 })],
    [NOW_MS - HOUR_MS, group('math', 'acme/free', { costNanoUsd: 0 })],
  ]);
  const watch = watchTaskTraffic(store, LAG_MS);
  await settle(watch, NOW_MS);
  const math = watch.traffic('math');
  assert.deepEqual(
    ['acme/most', 'acme/some', 'acme/free', 'acme/never'].map((slug) => math.standingOf(slug)),
    [1, 2 / 3, 0, 0],
  );
  assert.equal(watch.traffic('translation').requests, 0);
});

test('reports a price after enough requests, by what was paid for all prompts', async () => {
  const { store } = storeOf([
    [NOW_MS - HOUR_MS, group('math', 'acme/one', { requests: 30, pricedTokensPrompt: 1_000, promptNanoUsd: 500_000 })],
    [NOW_MS - HOUR_MS, group(null, 'acme/one', { requests: 20, pricedTokensPrompt: 3_000, promptNanoUsd: 500_000 })],
    [NOW_MS - HOUR_MS, group('math', 'acme/rare', { requests: 49 })],
  ]);
  const watch = watchTaskTraffic(store, LAG_MS);
  await settle(watch, NOW_MS);
  // 0.001 USD for 4,000 tokens.
  assert.equal(watch.paidPromptPrice('acme/one'), 0.25);
  assert.equal(watch.paidPromptPrice('acme/rare'), undefined);
});

test('makes up for a failed read with the next', async () => {
  const { store } = storeOf([[NOW_MS - HOUR_MS, group('math', 'acme/one')]]);
  let fails = true;
  const watch = watchTaskTraffic(
    { ...store, read: (fromMs, toMs) => (fails ? Promise.reject(new Error('away')) : store.read(fromMs, toMs)) },
    LAG_MS,
  );
  await assert.rejects(watch.step(NOW_MS));
  fails = false;
  await settle(watch, NOW_MS);
  assert.equal(watch.traffic('math').requests, 1);
});

const reported = (tag: string, model: string, costNanoUsd: number) => ({
  ...group(tag, model, { costNanoUsd }),
  taskType: tag,
});

// @spec router-37
test('computes shares of all classified requests, with unclassified ones only in the total', () => {
  const { tasks, categories } = sharesOf([
    reported('code:debugging', 'acme/one', 50),
    reported('code:debugging', 'acme/two', 10),
    reported('code:general_impl', 'acme/one', 20),
    reported('math', 'acme/one', 10),
    reported('other', 'acme/one', 10),
  ]);
  assert.deepEqual(
    tasks.map(({ tag, usageShare }) => [tag, usageShare]),
    [
      ['code:debugging', 0.6],
      ['code:general_impl', 0.2],
      ['math', 0.1],
    ],
  );
  const [first] = tasks;
  assert.equal(first?.categoryUsageShare, 0.75);
  assert.deepEqual(
    first.models.map(({ id }) => id),
    ['acme/one', 'acme/two'],
  );
  assert.ok(Math.abs((first.models[0]?.usageShare ?? 0) - 50 / 60) < 1e-9);
  assert.deepEqual(
    categories.map(({ category, usageShare }) => [category, Math.round(usageShare * 100)]),
    [
      ['code', 80],
      ['data', 0],
      ['agent', 0],
      ['general', 10],
    ],
  );
});

test('counts usage in requests without spending', () => {
  const { tasks } = sharesOf([
    { ...reported('math', 'acme/one', 0), requests: 3 },
    { ...reported('translation', 'acme/one', 0), requests: 1 },
  ]);
  assert.deepEqual(
    tasks.map(({ usageShare }) => usageShare),
    [0.75, 0.25],
  );
  assert.deepEqual(sharesOf([]).tasks, []);
});
