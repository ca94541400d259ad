import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { chooseUnderCap, frontierOf, type Offer } from './frontier.ts';

const offer = fc.record({ price: fc.integer({ min: 0, max: 30 }), score: fc.integer({ min: 0, max: 30 }) });
const offers = fc.array(offer, { maxLength: 40 });

const beats = (one: Offer, other: Offer): boolean =>
  one.price <= other.price && one.score >= other.score && (one.price < other.price || one.score > other.score);

suite('the frontier of price and score', () => {
  test('contains no model that another one beats', () => {
    fc.assert(
      fc.property(offers, (all) => {
        for (const chosen of frontierOf(all)) assert.ok(!all.some((other) => beats(other, chosen)));
      }),
    );
  });

  test('leaves out only models that one of it beats or equals', () => {
    fc.assert(
      fc.property(offers, (all) => {
        const frontier = frontierOf(all);
        for (const one of all)
          assert.ok(frontier.some((chosen) => chosen.price <= one.price && chosen.score >= one.score));
      }),
    );
  });

  test('rises in price and in score together', () => {
    fc.assert(
      fc.property(offers, (all) => {
        const frontier = frontierOf(all);
        for (const [index, one] of frontier.entries()) {
          const before = frontier[index - 1];
          if (before !== undefined) assert.ok(one.price > before.price && one.score > before.score);
        }
      }),
    );
  });

  test('puts the best below the price first, and excludes dearer ones', () => {
    fc.assert(
      fc.property(offers, fc.integer({ min: 0, max: 30 }), (all, cap) => {
        const chosen = chooseUnderCap(all, cap);
        const affordable = all.filter(({ price }) => price <= cap);
        assert.equal(chosen.length, affordable.length);
        const first = chosen[0];
        if (first !== undefined) {
          assert.equal(first.score, Math.max(...affordable.map(({ score }) => score)));
          assert.ok(!affordable.some((other) => beats(other, first)));
        }
      }),
    );
  });

  test('is what the worked example says', () => {
    const models = [
      { name: 'flash', price: 0.14, score: 0.609 },
      { name: 'luna', price: 0.2, score: 0.657 },
      { name: 'dear and worse', price: 4, score: 0.65 },
      { name: 'sonnet', price: 2, score: 0.7 },
      { name: 'opus', price: 5, score: 0.733 },
    ];
    assert.deepEqual(
      frontierOf(models).map(({ name }) => name),
      ['flash', 'luna', 'sonnet', 'opus'],
    );
    assert.deepEqual(
      chooseUnderCap(models, 4.5).map(({ name }) => name),
      ['sonnet', 'luna', 'flash', 'dear and worse'],
    );
  });
});
