import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFreshValues, type FreshValuesParts } from './fresh-values.ts';

function setUp(changes: Partial<FreshValuesParts<string | undefined>> = {}) {
  const state = { nowMs: 0, reads: 0, value: 'first', fails: false, until: Promise.resolve() };
  const values = createFreshValues<string | undefined>({
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

test('a value is read once for all who ask at once, and then given without a promise', async () => {
  const { state, values } = setUp();
  assert.deepEqual(await Promise.all([values.get('a'), values.get('a')]), ['a first', 'a first']);
  assert.equal(values.get('a'), 'a first');
  assert.equal(state.reads, 1);
});

test('a value in use is read again before its time is over, and nobody waits for that', async () => {
  const { state, values } = setUp();
  await values.get('a');
  state.value = 'second';
  state.nowMs = 600;
  assert.equal(values.get('a'), 'a first');
  await new Promise(setImmediate);
  assert.equal(values.get('a'), 'a second');
});

test('after its time a value is waited for', async () => {
  const { state, values } = setUp();
  await values.get('a');
  state.value = 'second';
  state.nowMs = 1_000;
  assert.equal(await values.get('a'), 'a second');
});

test('what was being read while it changed is not kept', async () => {
  const { state, values } = setUp();
  const before = values.get('a');
  state.value = 'second';
  values.forget();
  assert.equal(await before, 'a first');
  assert.equal(await values.get('a'), 'a second');
});

test('while nothing can be read the last value serves for so long, and then the failure is told', async () => {
  const { state, values } = setUp();
  await values.get('a');
  state.fails = true;
  state.nowMs = 2_000;
  assert.equal(await values.get('a'), 'a first');
  state.nowMs = 9_000;
  await assert.rejects(async () => values.get('a'), /away/);
  await assert.rejects(async () => values.get('never read'), /away/);
});

test('no more values are kept than there is room for', async () => {
  const { state, values } = setUp({ entriesMax: 2 });
  for (const name of ['a', 'b', 'c']) await values.get(name);
  await values.get('a');
  assert.equal(state.reads, 4);
});

test('a change of one value leaves the others as they are', async () => {
  const { state, values } = setUp();
  await Promise.all([values.get('a'), values.get('b')]);
  const reading = values.get('c');
  state.value = 'second';
  values.forget('a');
  values.forget('c');
  assert.equal(await reading, 'c first');
  assert.equal(values.get('b'), 'b first');
  assert.deepEqual([await values.get('a'), await values.get('c')], ['a second', 'c second']);
});

test('what may have changed is read again before it serves, unless nothing can be read', async () => {
  const { state, values } = setUp();
  await values.get('a');
  values.outdate();
  state.fails = true;
  assert.equal(await values.get('a'), 'a first');
  values.outdate();
  state.fails = false;
  state.value = 'second';
  assert.equal(await values.get('a'), 'a second');
});

test('names of nothing are remembered for a time of their own, and push out no value', async () => {
  const { state, values } = setUp({ entriesMax: 1, nothing: { freshMs: 30_000, entriesMax: 2 } });
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

test('while too much is being read a value that is known serves stale, for so long, and others are refused', async () => {
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
