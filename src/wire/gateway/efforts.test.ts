import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EFFORTS } from '../../canonical/request.ts';
import { effortOf, nearestEffort } from './efforts.ts';

test('an effort counts before a budget, and a budget by its share of the answer', () => {
  assert.equal(effortOf({ effort: 'low', maxTokens: 9_000 }, 10_000), 'low');
  assert.equal(effortOf({ maxTokens: 8_100 }, 10_000), 'high');
  assert.equal(effortOf({ maxTokens: 500 }, 10_000), 'minimal');
  assert.equal(effortOf({ maxTokens: 50_000 }, 10_000), 'xhigh');
});

test('a budget without a bound of the answer is a medium effort', () => {
  assert.equal(effortOf({ maxTokens: 9_000 }, undefined), 'medium');
});

test('reasoning that is off is no effort, and reasoning that is merely on a medium one', () => {
  assert.equal(effortOf({ enabled: false, effort: 'high' }, undefined), 'none');
  assert.equal(effortOf({ maxTokens: 0 }, undefined), 'none');
  assert.equal(effortOf({ enabled: true }, undefined), 'medium');
  assert.equal(effortOf({ adaptive: true }, undefined), 'medium');
  assert.equal(effortOf({ summary: 'auto' }, undefined), undefined);
});

test('the nearest effort that a model knows is taken, the lower of two', () => {
  assert.equal(nearestEffort('max', ['low', 'high']), 'high');
  assert.equal(nearestEffort('medium', ['low', 'high']), 'low');
  assert.equal(nearestEffort('high', []), undefined);
});

test('another effort than none never becomes none, nor none another', () => {
  assert.equal(nearestEffort('low', ['none']), undefined);
  assert.equal(nearestEffort('none', ['low']), undefined);
  assert.equal(nearestEffort('minimal', ['none', 'high']), 'high');
});

test('whatever is known, the nearest is one of it and none is nearer', () => {
  const efforts = fc.uniqueArray(fc.constantFrom(...EFFORTS));
  fc.assert(
    fc.property(fc.constantFrom(...EFFORTS), efforts, (asked, known) => {
      const found = nearestEffort(asked, known);
      if (found === undefined) return;
      const far = (effort: (typeof EFFORTS)[number]): number =>
        Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(asked));
      assert.ok(known.includes(found));
      for (const other of known) if (other !== 'none') assert.ok(far(found) <= far(other));
    }),
  );
});
