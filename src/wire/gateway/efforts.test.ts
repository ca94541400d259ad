import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EFFORTS } from '../../canonical/request.ts';
import { budgetOfEffort, effortOf, effortOfBudget, fitBudget, nearestEffort } from './efforts.ts';

// @spec reasoning-7
test('prefers an effort to a budget, and takes a budget by its share of the response', () => {
  assert.equal(effortOf({ effort: 'low', maxTokens: 9_000 }, 10_000), 'low');
  assert.equal(effortOf({ maxTokens: 8_100 }, 10_000), 'high');
  assert.equal(effortOf({ maxTokens: 500 }, 10_000), 'minimal');
  assert.equal(effortOf({ maxTokens: 50_000 }, 10_000), 'xhigh');
});

// @spec reasoning-7
test('maps a budget without a limit of the response to a medium effort', () => {
  assert.equal(effortOf({ maxTokens: 9_000 }, undefined), 'medium');
});

// @spec reasoning-2
test('reasoning that is off is no effort, and reasoning that is merely on a medium one', () => {
  assert.equal(effortOf({ enabled: false, effort: 'high' }, undefined), 'none');
  assert.equal(effortOf({ maxTokens: 0 }, undefined), 'none');
  assert.equal(effortOf({ enabled: true }, undefined), 'medium');
  assert.equal(effortOf({ adaptive: true }, undefined), 'medium');
  assert.equal(effortOf({ summary: 'auto' }, undefined), undefined);
});

// @spec reasoning-3
test('takes the nearest effort that a model knows, the lower of two', () => {
  assert.equal(nearestEffort('max', ['low', 'high']), 'high');
  assert.equal(nearestEffort('medium', ['low', 'high']), 'low');
  assert.equal(nearestEffort('high', []), undefined);
});

// @spec reasoning-3
test('another effort than none never becomes none, nor none another', () => {
  assert.equal(nearestEffort('low', ['none']), undefined);
  assert.equal(nearestEffort('none', ['low']), undefined);
  assert.equal(nearestEffort('minimal', ['none', 'high']), 'high');
});

test('whatever is known, the nearest is one of it and none is nearer', () => {
  const efforts = fc.uniqueArray(fc.constantFrom(...EFFORTS));
  fc.assert(
    fc.property(fc.constantFrom(...EFFORTS), efforts, (requested, known) => {
      const found = nearestEffort(requested, known);
      if (found === undefined) return;
      const far = (effort: (typeof EFFORTS)[number]): number =>
        Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(requested));
      assert.ok(known.includes(found));
      for (const other of known) if (other !== 'none') assert.ok(far(found) <= far(other));
    }),
  );
});

// @spec reasoning-5
test('makes a budget of a share of the response, within bounds and rounded down', () => {
  assert.equal(budgetOfEffort('medium', 10_001), 5_000);
  assert.equal(budgetOfEffort('xhigh', 10_000), budgetOfEffort('max', 10_000));
  assert.equal(budgetOfEffort('minimal', 2_000), 1_024);
  assert.equal(budgetOfEffort('max', 1_000_000), 128_000);
});

test('maps a budget that came of an effort back to that effort, or to one of the same share', () => {
  for (const effort of EFFORTS.filter((name) => name !== 'none'))
    assert.equal(effortOfBudget(budgetOfEffort(effort, 100_000), 100_000), effort === 'max' ? 'xhigh' : effort);
});

// @spec reasoning-6
test('makes room beside reasoning: raises the limit, else lowers the budget, else gives none', () => {
  assert.deepEqual(fitBudget(1_024, 1_024, 2_000, undefined), { budget: 1_024, maxTokens: 2_000 });
  assert.deepEqual(fitBudget(4_000, 1_024, 2_000, undefined), { budget: 4_000, maxTokens: 5_024 });
  assert.deepEqual(fitBudget(4_000, 1_024, 2_000, 3_000), { budget: 1_976, maxTokens: 3_000 });
  assert.equal(fitBudget(4_000, 1_024, 1_500, 2_000), undefined);
  // A limit of the catalog's never lowers what the caller requested.
  assert.deepEqual(fitBudget(4_000, 1_024, 3_000, 2_000), { budget: 1_976, maxTokens: 3_000 });
});

test('whatever fits, the response is longer than its reasoning', () => {
  const tokens = fc.nat({ max: 200_000 });
  fc.assert(
    fc.property(tokens, tokens, fc.option(tokens, { nil: undefined }), (budget, maxTokens, limit) => {
      const fitted = fitBudget(budget, 1_024, maxTokens, limit);
      if (fitted === undefined) return;
      assert.ok(fitted.maxTokens > fitted.budget && fitted.budget <= budget && fitted.maxTokens >= maxTokens);
    }),
  );
});
