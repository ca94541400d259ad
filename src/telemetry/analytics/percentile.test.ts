import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { FIRST_TOKEN_BOUNDS_MS as BOUNDS } from '../../store/usage/usage-measures.ts';
import { percentileOf } from './percentile.ts';

const classOf = (value: number): number => {
  const index = BOUNDS.findIndex((bound) => value < bound);
  return index < 0 ? BOUNDS.length : index;
};

suite('percentiles of classes', () => {
  test('returns none without values', () => {
    assert.equal(percentileOf([1, 2], [0, 0, 0], 0.5), null);
  });

  test('values inside a class count as spread evenly', () => {
    assert.equal(percentileOf([10, 20], [0, 4, 0], 0.5), 15);
    assert.equal(percentileOf([10, 20], [1, 1, 0], 1), 20);
  });

  test('returns the beginning of the last class, which has no end', () => {
    assert.equal(percentileOf([10, 20], [0, 0, 3], 0.5), 20);
  });

  test('returns a percentile within the class of its value', () => {
    const values = fc.array(fc.integer({ min: 0, max: 70_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(values, fc.constantFrom(0.5, 0.95), (all, share) => {
        const counts = Array<number>(BOUNDS.length + 1).fill(0);
        for (const value of all) counts[classOf(value)] = (counts[classOf(value)] ?? 0) + 1;
        const found = percentileOf(BOUNDS, counts, share) ?? -1;
        const sorted = all.toSorted((one, other) => one - other);
        const exact = sorted[Math.ceil(share * all.length) - 1] ?? -1;
        const index = classOf(exact);
        assert.ok(found >= (BOUNDS[index - 1] ?? 0) && found <= (BOUNDS[index] ?? Infinity), `${found} of ${exact}`);
      }),
    );
  });
});
