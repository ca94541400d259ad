import assert from 'node:assert/strict';
import test from 'node:test';
import { nearestName } from './nearest-name.ts';

const KNOWN = ['allow_fallbacks', 'order', 'only', 'ignore', 'sort', 'zdr'];

for (const [name, nearest] of [
  ['ordr', 'order'],
  ['oder', 'order'],
  ['ordre', 'order'],
  ['Order', 'order'],
  ['allow_fallback', 'allow_fallbacks'],
  ['allow-fallbacks', 'allow_fallbacks'],
  ['zrd', 'zdr'],
] as const) {
  test(`finds '${nearest}' for '${name}'`, () => {
    assert.equal(nearestName(name, KNOWN), nearest);
  });
}

for (const name of ['', 'models', 'xyz', 'provider', 'o', 'x'.repeat(65)]) {
  test(`finds none of them for '${name.slice(0, 10)}' (${name.length} characters)`, () => {
    assert.equal(nearestName(name, KNOWN), undefined);
  });
}

test('prefers the nearest name, and the first of equals', () => {
  assert.equal(nearestName('maxe', ['mine', 'max', 'maxa']), 'max');
});

test('does a bounded amount of work for a list of any length', () => {
  let requestedCount = 0;
  function* endless(): Generator<string> {
    for (;;) {
      requestedCount++;
      yield 'unlike';
    }
  }
  assert.equal(nearestName('something', endless()), undefined);
  assert.ok(requestedCount < 1_000);
});
