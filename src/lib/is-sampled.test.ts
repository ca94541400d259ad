import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isSampled } from './is-sampled.ts';

const NAMES = Array.from({ length: 20_000 }, (_, index) => `session-${index}`);
const countOf = (ofMillion: number): number => NAMES.filter((name) => isSampled(name, ofMillion)).length;

suite('a share of names', () => {
  test('is about as large as it is asked to be', () => {
    for (const share of [0.01, 0.25, 0.9]) {
      const found = countOf(share * 1_000_000) / NAMES.length;
      assert.ok(Math.abs(found - share) < 0.02, `${found} of ${share}`);
    }
  });

  test('is nobody at nothing, and everybody at all', () => {
    assert.equal(countOf(0), 0);
    assert.equal(countOf(1_000_000), NAMES.length);
  });

  test('always has the same names, and a larger share has them, too', () => {
    const small = NAMES.filter((name) => isSampled(name, 10_000));
    assert.deepEqual(
      small.filter((name) => !isSampled(name, 500_000)),
      [],
    );
  });
});
