import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { COST_TIERS } from './cost-band.ts';
import { chooseByExpectedCost, likelySuccess } from './expected-cost.ts';
import type { FieldModel } from './rank-for-task.ts';

const model = (slug: string, price: number, prior: number | undefined): FieldModel => ({
  slug,
  price,
  prior,
  share: 0,
});
const FIELD = [model('plain', 0.1, 0.5), model('good', 0.4, 0.75), model('top', 0.6, 0.95)];
const choose = (difficulty: number, more: object = {}) =>
  chooseByExpectedCost(FIELD, { difficulty, requests: 0, tradeoff: 0, ...more });

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
  const skills = new Map(FIELD.map(({ slug, prior }) => [slug, prior ?? 0]));
  let before = 0;
  for (let difficulty = 0; difficulty <= 1; difficulty += 0.05) {
    const skill =
      skills.get(
        chooseByExpectedCost(FIELD, { difficulty, requests: 0, tier: undefined, tradeoff: 0 }).chosen[0] ?? '',
      ) ?? 0;
    assert.ok(skill >= before, `at ${difficulty}`);
    before = skill;
  }
});

test('whoever is chosen has the lowest expected cost of its band', () => {
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
        const field = offers.map(({ price, prior }, at) => model(`m${at}`, price, prior));
        const { chosen, ranking } = chooseByExpectedCost(field, { difficulty, requests: 0, tier });
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

test('own traffic counts for a model that nobody tested', () => {
  const field = [model('tested', 1, 0.2), { ...model('used', 1, undefined), share: 1 }];
  assert.equal(chooseByExpectedCost(field, { difficulty: 0.7, requests: 10_000, tradeoff: 0 }).chosen[0], 'used');
  assert.equal(chooseByExpectedCost(field, { difficulty: 0.7, requests: 0, tradeoff: 0 }).chosen[0], 'tested');
});

test('of nobody nobody is chosen', () => {
  assert.deepEqual(chooseByExpectedCost([], { difficulty: 0.5, requests: 0 }).chosen, []);
});
