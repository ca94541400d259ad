import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFreshValues } from './fresh-values.ts';

function setUp(changes: { readonly entriesMax?: number } = {}) {
  const state = { nowMs: 0, reads: 0, value: 'first', fails: false };
  const values = createFreshValues<string>({
    async read(name) {
      state.reads++;
      const { value, fails } = state;
      await Promise.resolve();
      if (fails) throw new Error('away');
      return `${name} ${value}`;
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
