import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { COST_TIERS } from './cost-band.ts';
import { chooseByExpectedCost, likelySuccess } from './expected-cost.ts';
import type { ScoredModel } from './rank-for-task.ts';

const model = (slug: string, price: number, prior: number | undefined): ScoredModel => ({
  slug,
  price,
  prior,
  share: 0,
});
const POOL = [model('plain', 0.1, 0.5), model('good', 0.4, 0.75), model('top', 0.6, 0.95)];
const choose = (difficulty: number, more: object = {}) =>
  chooseByExpectedCost(POOL, { difficulty, requests: 0, tradeoff: 0, ...more });

test('success falls with difficulty and rises with skill', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (at, more) => {
        assert.ok(likelySuccess(at, 0.5) < likelySuccess(at + more, 0.5));
        assert.ok(likelySuccess(0.5, at) > likelySuccess(0.5, at + more));
      },
    ),
    { seed: 3 },
  );
});

test('an easy request goes to the cheapest, a hard one to a better model of the band', () => {
  assert.equal(choose(0).chosen[0], 'plain');
  assert.equal(choose(0.8).chosen[0], 'good');
  assert.equal(choose(0.8, { tier: 'max' }).chosen[0], 'top');
});

test('the harder a request, the better or equal the model that is chosen for it', () => {
  const skills = new Map(POOL.map(({ slug, prior }) => [slug, prior ?? 0]));
  let before = 0;
  for (let difficulty = 0; difficulty <= 1; difficulty += 0.05) {
    const skill =
      skills.get(
        chooseByExpectedCost(POOL, { difficulty, requests: 0, tier: undefined, tradeoff: 0 }).chosen[0] ?? '',
      ) ?? 0;
    assert.ok(skill >= before, `at ${difficulty}`);
    before = skill;
  }
});

// @spec router-19
test('chooses the lowest expected cost of the band', () => {
  const some = fc.array(
    fc.record({
      price: fc.double({ min: 0, max: 50, noNaN: true }),
      prior: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 30 },
  );
  fc.assert(
    fc.property(
      some,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(...COST_TIERS, undefined),
      (offers, difficulty, tier) => {
        const pool = offers.map(({ price, prior }, at) => model(`m${at}`, price, prior));
        const { chosen, ranking } = chooseByExpectedCost(pool, { difficulty, requests: 0, tier });
        const inBand = ranking.filter((one) => one.inBand);
        assert.ok(inBand.length > 0);
        assert.equal(chosen[0], inBand[0]?.slug);
        assert.ok(inBand.every((one) => one.expected >= (inBand[0]?.expected ?? 0)));
      },
    ),
    { seed: 11 },
  );
});

test("a session's model stands first while it is among the best, and then only", () => {
  assert.deepEqual(choose(0, { remembered: 'good' }).chosen[0], 'good');
  assert.deepEqual(choose(0, { remembered: 'top', tier: 'low' }).chosen, ['plain']);
});

test('counts own traffic for an untested model', () => {
  const pool = [model('tested', 1, 0.2), { ...model('used', 1, undefined), share: 1 }];
  assert.equal(chooseByExpectedCost(pool, { difficulty: 0.7, requests: 10_000, tradeoff: 0 }).chosen[0], 'used');
  assert.equal(chooseByExpectedCost(pool, { difficulty: 0.7, requests: 0, tradeoff: 0 }).chosen[0], 'tested');
});

test('chooses nothing from an empty pool', () => {
  assert.deepEqual(chooseByExpectedCost([], { difficulty: 0.5, requests: 0 }).chosen, []);
});
