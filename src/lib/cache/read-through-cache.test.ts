import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadThroughCache, type ReadThroughCacheOptions } from './read-through-cache.ts';

function setUp(changes: Partial<ReadThroughCacheOptions<string | undefined>> = {}) {
  const state = { nowMs: 0, reads: 0, value: 'first', fails: false, until: Promise.resolve() };
  const values = createReadThroughCache<string | undefined>({
    async read(name) {
      state.reads++;
      const { value, fails } = state;
      await state.until;
      if (fails) throw new Error('away');
      return name.startsWith('no ') ? undefined : `${name} ${value}`;
    },
    nowMs: () => state.nowMs,
    freshMs: 1_000,
    staleMsMax: 5_000,
    readMsMax: 1_000,
    entriesMax: 10,
    ...changes,
  });
  return { state, values };
}

test('shares one read between concurrent lookups, then returns the value without a promise', async () => {
  const { state, values } = setUp();
  assert.deepEqual(await Promise.all([values.get('a'), values.get('a')]), ['a first', 'a first']);
  assert.equal(values.get('a'), 'a first');
  assert.equal(state.reads, 1);
});

test('reads a value in use ahead of its expiry without a wait', async () => {
  const { state, values } = setUp();
  await values.get('a');
  state.value = 'second';
  state.nowMs = 600;
  assert.equal(values.get('a'), 'a first');
  await new Promise(setImmediate);
  assert.equal(values.get('a'), 'a second');
});

test('waits for a new read once the value has expired', async () => {
  const { state, values } = setUp();
  await values.get('a');
  state.value = 'second';
  state.nowMs = 1_000;
  assert.equal(await values.get('a'), 'a second');
});

test('does not cache a read that began before an invalidation', async () => {
  const { state, values } = setUp();
  const before = values.get('a');
  state.value = 'second';
  values.invalidate();
  assert.equal(await before, 'a first');
  assert.equal(await values.get('a'), 'a second');
});

test('serves a stale value for a bounded time while reading fails, then throws', async () => {
  const { state, values } = setUp();
  await values.get('a');
  state.fails = true;
  state.nowMs = 2_000;
  assert.equal(await values.get('a'), 'a first');
  state.nowMs = 9_000;
  await assert.rejects(async () => values.get('a'), /away/);
  await assert.rejects(async () => values.get('never read'), /away/);
});

test('drops values beyond the bound', async () => {
  const { state, values } = setUp({ entriesMax: 2 });
  for (const name of ['a', 'b', 'c']) await values.get(name);
  await values.get('a');
  assert.equal(state.reads, 4);
});

test('leaves other values alone when one is invalidated', async () => {
  const { state, values } = setUp();
  await Promise.all([values.get('a'), values.get('b')]);
  const reading = values.get('c');
  state.value = 'second';
  values.invalidate('a');
  values.invalidate('c');
  assert.equal(await reading, 'c first');
  assert.equal(values.get('b'), 'b first');
  assert.deepEqual([await values.get('a'), await values.get('c')], ['a second', 'c second']);
});

test('reads stale-marked values again before they serve, unless reading fails', async () => {
  const { state, values } = setUp();
  await values.get('a');
  values.markStale();
  state.fails = true;
  assert.equal(await values.get('a'), 'a first');
  values.markStale();
  state.fails = false;
  state.value = 'second';
  assert.equal(await values.get('a'), 'a second');
});

test('caches absent names for a time of their own, without evicting a value', async () => {
  const { state, values } = setUp({ entriesMax: 1, negative: { freshMs: 30_000, entriesMax: 2 } });
  await values.get('a');
  for (const name of ['no one', 'no two', 'no three']) assert.equal(await values.get(name), undefined);
  assert.equal(values.get('a'), 'a first');
  state.nowMs = 29_999;
  assert.equal(values.get('no three'), undefined);
  assert.equal(state.reads, 4);
  await values.get('no one');
  state.nowMs = 30_000;
  await values.get('no three');
  assert.equal(state.reads, 6);
});

test('serves stale values and refuses other names while too many reads are under way', async () => {
  const { state, values } = setUp({ readMsMax: 60_000 });
  await values.get('a');
  const { promise, resolve } = Promise.withResolvers<void>();
  state.until = promise;
  const flood = Array.from({ length: 4_096 }, (_, index) => Promise.resolve(values.get(`flood ${index}`)));
  await assert.rejects(async () => values.get('never read'), /4096 values/);
  state.nowMs = 5_000;
  assert.equal(await values.get('a'), 'a first');
  state.nowMs = 5_001;
  await assert.rejects(async () => values.get('a'), /4096 values/);
  state.value = 'second';
  resolve();
  await Promise.all(flood);
  assert.equal(await values.get('a'), 'a second');
});
