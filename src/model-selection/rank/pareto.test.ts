import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Offer } from './frontier.ts';
import { choosePareto, type ParetoModel, type ParetoPreference } from './pareto.ts';

const SEEDED = { seed: 20_261_122, numRuns: 300 } as const;

const pool: fc.Arbitrary<ParetoModel[]> = fc.uniqueArray(
  fc.record({
    slug: fc.integer({ min: 0, max: 99 }).map((number) => `a/m${number}`),
    price: fc.integer({ min: 0, max: 20 }),
    score: fc.integer({ min: 0, max: 20 }).map((score) => score / 20),
    throughput: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
  }),
  { maxLength: 40, selector: ({ slug }) => slug },
);
const unit = fc.double({ min: 0, max: 1, noNaN: true });
const cap = fc.integer({ min: 0, max: 20 });

const beats = (one: Offer, other: Offer): boolean =>
  one.price <= other.price && one.score >= other.score && (one.price < other.price || one.score > other.score);

const slugsOf = (models: readonly ParetoModel[], preference: ParetoPreference): readonly string[] =>
  choosePareto(models, preference).chosen.map(({ slug }) => slug);

function model(slug: string, price: number, score: number, throughput?: number): ParetoModel {
  return { slug, price, score, throughput };
}

/** Percentiles 0, 0.25, 0.5, 0.75 and 1: two models in the high tier, one in the medium one, two in the low one. */
const FIVE = [
  model('a/low-1', 0.1, 0.2, 90),
  model('a/low-2', 0.2, 0.3, 120),
  model('a/medium', 1, 0.5, 60),
  model('a/high-1', 3, 0.7, 50),
  model('a/high-2', 9, 0.9, 70),
];

suite('under a cap on the price', () => {
  test('no model of the pool beats the chosen one', () => {
    fc.assert(
      fc.property(pool, cap, (models, priceMax) => {
        const [first] = choosePareto(models, { priceMax }).chosen;
        if (first !== undefined) assert.ok(!models.some((other) => beats(other, first)));
        else assert.ok(models.every(({ price }) => price > priceMax));
      }),
      SEEDED,
    );
  });

  test('chooses no dearer model, and the best score below the price first', () => {
    fc.assert(
      fc.property(pool, cap, (models, priceMax) => {
        const { chosen } = choosePareto(models, { priceMax });
        const allowed = models.filter(({ price }) => price <= priceMax);
        assert.ok(chosen.every(({ price }) => price <= priceMax));
        if (chosen[0] !== undefined) assert.equal(chosen[0].score, Math.max(...allowed.map(({ score }) => score)));
      }),
      SEEDED,
    );
  });

  test('is unaffected by a requested score', () => {
    fc.assert(
      fc.property(pool, cap, unit, (models, priceMax, scoreMin) => {
        assert.deepEqual(choosePareto(models, { priceMax, scoreMin }), choosePareto(models, { priceMax }));
      }),
      SEEDED,
    );
  });
});

suite('within a tier', () => {
  test('chooses one to three models whenever there are any', () => {
    fc.assert(
      fc.property(pool, unit, (models, scoreMin) => {
        const { chosen } = choosePareto(models, { scoreMin });
        assert.equal(chosen.length > 0, models.length > 0);
        assert.ok(chosen.length <= 3);
      }),
      SEEDED,
    );
  });

  test('no other model of its tier beats the chosen one', () => {
    fc.assert(
      fc.property(pool, unit, (models, scoreMin) => {
        const { chosen, floor = 0 } = choosePareto(models, { scoreMin });
        const [first] = chosen;
        if (first === undefined) return;
        const ceiling = floor >= 0.66 ? Infinity : floor >= 0.33 ? 0.66 : 0.33;
        const placeOf = ({ score }: Offer): number =>
          models.length === 1 ? 1 : 1 - models.filter((one) => one.score > score).length / (models.length - 1);
        const mates = models.filter((one) => placeOf(one) >= floor && placeOf(one) < ceiling);
        assert.ok(mates.includes(first));
        assert.ok(!mates.some((other) => beats(other, first)));
      }),
      SEEDED,
    );
  });

  test('the order of the pool changes nothing', () => {
    const shuffled = pool.chain((models) =>
      fc.shuffledSubarray(models, { minLength: models.length }).map((again) => [models, again] as const),
    );
    fc.assert(
      fc.property(shuffled, unit, fc.boolean(), ([models, again], scoreMin, fastest) => {
        assert.deepEqual(slugsOf(models, { scoreMin, fastest }), slugsOf(again, { scoreMin, fastest }));
      }),
      SEEDED,
    );
  });

  test("keeps the session's model while it is among the three, and moves no other", () => {
    fc.assert(
      fc.property(pool, unit, fc.nat(99), (models, scoreMin, number) => {
        const remembered = `a/m${number}`;
        const before = slugsOf(models, { scoreMin });
        const after = slugsOf(models, { scoreMin, remembered });
        assert.deepEqual(
          after,
          before.includes(remembered) ? [remembered, ...before.filter((slug) => slug !== remembered)] : before,
        );
      }),
      SEEDED,
    );
  });

  for (const [scoreMin, slugs] of [
    [undefined, ['a/high-1', 'a/high-2']],
    [1, ['a/high-1', 'a/high-2']],
    [0.66, ['a/high-1', 'a/high-2']],
    [0.65999, ['a/medium']],
    [0.33, ['a/medium']],
    [0.32999, ['a/low-1', 'a/low-2']],
    [0, ['a/low-1', 'a/low-2']],
  ] as const)
    // @spec router-20
    test(`a score of ${scoreMin} is served by ${slugs.join(' and ')}`, () => {
      assert.deepEqual(slugsOf(FIVE, { scoreMin }), slugs);
    });

  test('puts the fastest first on request', () => {
    assert.deepEqual(slugsOf(FIVE, { fastest: true }), ['a/high-2', 'a/high-1']);
    assert.deepEqual(slugsOf([model('a/a', 1, 1), model('a/b', 9, 1, 5)], { fastest: true }), ['a/b', 'a/a']);
  });

  // @spec router-21
  test('replaces an empty tier by its neighbour, the better one first', () => {
    const two = [model('a/worse', 1, 0.1), model('a/better', 5, 0.9)];
    const choice = choosePareto(two, { scoreMin: 0.5 });
    assert.deepEqual([choice.tier, choice.tierMoved, choice.floor], ['high', true, 0.66]);
    assert.deepEqual(slugsOf(two, { scoreMin: 0.5 }), ['a/better']);
  });

  test('one model alone serves every tier', () => {
    for (const scoreMin of [0, 0.5, 1]) assert.deepEqual(slugsOf([model('a/only', 1, 0)], { scoreMin }), ['a/only']);
  });
});
