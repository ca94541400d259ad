import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../lib/clock.ts';
import { createLoopTurns } from '../../lib/async/loop-turns.ts';
import { bootstrapInterval, quantileOf, wilsonInterval } from './intervals.ts';
import { createRandom, shuffle } from './random.ts';
import { holmCorrection, mcNemarTest, signFlipTest } from './tests-of-difference.ts';

const turns = createLoopTurns({ clock: systemClock });

suite('the interval of a share', () => {
  /** 81 of 263, 15 of 148, 0 of 20 and 1 of 29: R. G. Newcombe, "Two-sided confidence intervals", 1998, table I, method 3. */
  const KNOWN = [
    [0, 10, 0, 0.277533],
    [1, 10, 0.017876, 0.40415],
    [5, 10, 0.236593, 0.763407],
    [9, 10, 0.59585, 0.982124],
    [10, 10, 0.722467, 1],
    [0, 1, 0, 0.793451],
    [1, 1, 0.206549, 1],
    [15, 148, 0.062386, 0.160487],
    [81, 263, 0.255289, 0.36621],
    [0, 20, 0, 0.161125],
    [1, 29, 0.006113, 0.171755],
    [56, 70, 0.691834, 0.876953],
  ] as const;

  // @spec evaluation-11
  test('has twelve known values', () => {
    for (const [successes, total, low, high] of KNOWN) {
      const interval = wilsonInterval(successes, total);
      assert.ok(Math.abs(interval.low - low) < 1e-6, `${successes}/${total}: ${interval.low}`);
      assert.ok(Math.abs(interval.high - high) < 1e-6, `${successes}/${total}: ${interval.high}`);
    }
  });

  test('holds the share, stays within 0 and 1, and mirrors that of the failures', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (total, part) => {
        const successes = Math.round(part * total);
        const { low, high } = wilsonInterval(successes, total);
        const other = wilsonInterval(total - successes, total);
        const share = successes / total;
        assert.ok(low >= 0 && low <= share && share <= high && high <= 1);
        assert.ok(Math.abs(low + other.high - 1) < 1e-9);
      }),
    );
  });
});

suite('the bootstrap', () => {
  const groups = Array.from({ length: 40 }, (_, at) => ({ sum: Math.abs(Math.sin(at)), weight: 1 }));

  test('gives the same interval for the same seed, and another for another', async () => {
    const of = (seed: number) => bootstrapInterval(groups, createRandom(seed), turns);
    assert.deepEqual(await of(7), await of(7));
    assert.notDeepEqual(await of(7), await of(8));
  });

  test('is near the interval of the normal distribution for many items', async () => {
    const many = Array.from({ length: 2_000 }, (_, at) => ({ sum: at % 2, weight: 1 }));
    const interval = await bootstrapInterval(many, createRandom(1), turns);
    const half = 1.96 * Math.sqrt(0.25 / 2_000);
    assert.ok(interval !== undefined);
    assert.ok(Math.abs(interval.low - (0.5 - half)) < 0.004 && Math.abs(interval.high - (0.5 + half)) < 0.004);
  });

  test('is wider where items that agree are one group', async () => {
    const items = Array.from({ length: 100 }, (_, at) => ({ sum: at < 50 ? 1 : 0, weight: 1 }));
    const grouped = Array.from({ length: 10 }, (_, at) => ({ sum: at < 5 ? 10 : 0, weight: 10 }));
    const alone = await bootstrapInterval(items, createRandom(1), turns);
    const together = await bootstrapInterval(grouped, createRandom(1), turns);
    assert.ok(alone && together && together.high - together.low > 2 * (alone.high - alone.low));
  });

  test('says nothing of one group', async () => {
    assert.equal(await bootstrapInterval([{ sum: 1, weight: 1 }], createRandom(1), turns), undefined);
  });
});

suite('tests of a difference', () => {
  test('count all signs of three equal differences', async () => {
    // Two of the eight ways to sign them are as far from 0 as they are.
    const p = await signFlipTest([1, 1, 1], createRandom(3), turns);
    assert.ok(Math.abs(p - 0.25) < 0.02, String(p));
  });

  test('are never 0, and 1 where nothing differs', async () => {
    const differences = Array.from({ length: 200 }, () => 1);
    assert.equal(await signFlipTest(differences, createRandom(1), turns), 1 / 10_001);
    assert.equal(await signFlipTest([0, 0], createRandom(1), turns), 1);
  });

  test('have the exact values of the binomial distribution for right and wrong', () => {
    assert.equal(mcNemarTest(0, 0), 1);
    assert.ok(Math.abs(mcNemarTest(0, 5) - 0.0625) < 1e-12);
    assert.ok(Math.abs(mcNemarTest(9, 1) - 0.021484375) < 1e-12);
    assert.ok(Math.abs(mcNemarTest(10_000, 10_200) - 0.1616) < 2e-3);
    assert.equal(mcNemarTest(4, 4), 1);
  });

  test('are corrected for their number as Holm does', () => {
    assert.deepEqual(
      holmCorrection([0.01, 0.04, 0.03, 0.005]).map((value) => Number(value.toFixed(6))),
      [0.03, 0.06, 0.06, 0.02],
    );
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (values) => {
        const corrected = holmCorrection(values);
        corrected.forEach((value, at) => assert.ok(value >= (values[at] ?? 0) && value <= 1));
      }),
    );
  });
});

test('a quantile lies on the line between its neighbours', () => {
  assert.deepEqual(
    [0, 0.5, 0.95, 1].map((share) => quantileOf([10, 20, 30, 40], share)),
    [10, 25, 38.5, 40],
  );
});

test('a shuffle keeps every item, and gives the same order for the same seed', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
      const shuffled = shuffle(items, createRandom(seed));
      const sorted = (list: readonly number[]) => list.toSorted((left, right) => left - right);
      assert.deepEqual(sorted(shuffled), sorted(items));
      assert.deepEqual(shuffled, shuffle(items, createRandom(seed)));
    }),
  );
});
