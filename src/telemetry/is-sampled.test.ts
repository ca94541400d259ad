import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isSampled } from './is-sampled.ts';

const NAMES = Array.from({ length: 20_000 }, (_, index) => `session-${index}`);
const countOf = (ofMillion: number): number => NAMES.filter((name) => isSampled(name, ofMillion)).length;

suite('a share of names', () => {
  test('selects about the requested share', () => {
    for (const share of [0.01, 0.25, 0.9]) {
      const found = countOf(share * 1_000_000) / NAMES.length;
      assert.ok(Math.abs(found - share) < 0.02, `${found} of ${share}`);
    }
  });

  test('selects nothing at a rate of 0, and everything at 1', () => {
    assert.equal(countOf(0), 0);
    assert.equal(countOf(1_000_000), NAMES.length);
  });

  test('selects the same names each time, and a larger share includes them', () => {
    const small = NAMES.filter((name) => isSampled(name, 10_000));
    assert.deepEqual(
      small.filter((name) => !isSampled(name, 500_000)),
      [],
    );
  });
});
