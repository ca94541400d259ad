import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { COST_TIERS, costPercentiles, keepBand } from './cost-band.ts';
import { rankForTask, type ScoredModel } from './rank-for-task.ts';

const model = (slug: string, price: number, prior?: number): ScoredModel => ({ slug, price, prior, share: 0 });
const POOL = Array.from({ length: 11 }, (_, index) => model(`a/${index}`, index + 1, index / 10));

suite('bands of cost', () => {
  for (const [input, slugs] of [
    [{ tier: 'low' }, ['a/1', 'a/0']],
    [{ tier: 'medium' }, ['a/3', 'a/2']],
    [{ tier: 'max' }, ['a/10', 'a/9', 'a/8']],
    [{}, ['a/1', 'a/0']],
    [{ tradeoff: 10 }, ['a/1', 'a/0']],
    [{ tradeoff: 0 }, ['a/9', 'a/8', 'a/7']],
    [{ tier: 'low', tradeoff: 0 }, ['a/1', 'a/0']],
  ] as const)
    // @spec router-11, router-12
    test(`${JSON.stringify(input)} of eleven models chooses ${slugs.join(', ')}`, () => {
      assert.deepEqual(rankForTask(POOL, 0, input).chosen, slugs);
    });

  // @spec router-14
  test('an empty band gives way to the nearest one, the cheaper of two first', () => {
    const pool = [model('a/cheap', 1, 0.1), model('a/dear', 100, 0.9)];
    const choice = rankForTask(pool, 0, { tier: 'high' });
    assert.deepEqual([choice.chosen, choice.bandMoved], [['a/cheap'], true]);
  });

  test('keeps one of the pool for every preference, and none from outside the band', () => {
    const pool = fc.array(fc.record({ price: fc.integer({ min: 0, max: 20 }) }), { minLength: 1, maxLength: 20 });
    const input = fc.oneof(
      fc.record({ tier: fc.constantFrom(...COST_TIERS) }),
      fc.record({ tradeoff: fc.integer({ min: 0, max: 10 }) }),
      fc.constant({}),
    );
    fc.assert(
      fc.property(pool, input, (models, requested) => {
        const { chosen, band } = keepBand(models, requested);
        const percentiles = costPercentiles(models);
        assert.ok(chosen.length > 0);
        for (const one of chosen) {
          const percentile = percentiles.get(one) ?? -1;
          assert.ok(percentile >= band.from && percentile <= band.to);
        }
      }),
    );
  });
});

suite('models for a task', () => {
  // @spec router-10
  test('own traffic overtakes tests when there is enough of it', () => {
    const pool = [
      { ...model('a/tested', 1, 0.9), share: 0 },
      { ...model('a/used', 1, 0.1), share: 1 },
    ];
    assert.equal(rankForTask(pool, 0, {}).chosen[0], 'a/tested');
    assert.equal(rankForTask(pool, 10_000, {}).chosen[0], 'a/used');
  });

  test('the model of the session stays first while it is among the best', () => {
    assert.deepEqual(rankForTask(POOL, 0, { remembered: 'a/0' }).chosen, ['a/0', 'a/1']);
    assert.deepEqual(rankForTask(POOL, 0, { remembered: 'a/9' }).chosen, ['a/1', 'a/0']);
  });

  test('a pinned model goes on while it may answer at all', () => {
    assert.deepEqual(rankForTask(POOL, 0, { pinned: 'a/9' }).chosen, ['a/9', 'a/1', 'a/0']);
    assert.deepEqual(rankForTask(POOL, 0, { pinned: 'a/gone' }).chosen, ['a/1', 'a/0']);
  });

  test('chooses nothing from an empty pool', () => {
    assert.deepEqual(rankForTask([], 0, {}).chosen, []);
  });
});
