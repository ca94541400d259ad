import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Explanation } from '../../../api/explain.ts';
import { sentenceOfCost } from './cost.ts';

function explained(...candidates: readonly object[]): Explanation {
  return {
    requested: 'acme/one',
    ordering: 'balanced',
    models: ['acme/one'],
    estimated_prompt_tokens: 1_200,
    candidates: candidates.map((more) => ({ provider: 'A', tag: 'a', model: 'acme/one', ...more })),
    resting: [],
    excluded: [],
    service_metadata: {},
  };
}

const PRICED = { price: { prompt: 1, completion: 3 }, estimated_cost: { prompt: 0.0012 } };

suite('what a message would cost', () => {
  test('is what its prompt costs at the first candidate, and what a thousand tokens out add', () => {
    const dearer = { price: { prompt: 2, completion: 9 }, estimated_cost: { prompt: 0.0024 } };
    assert.equal(
      sentenceOfCost([explained(PRICED, dearer)], ['acme/one']),
      'Before: about 0.001200 $ for 1,200 tokens in, and 0.003 $ for each 1,000 out',
    );
  });

  test('is at most what the dearest candidate takes, added up over all columns', () => {
    const [one, other] = [0.004, 0.0067].map((max) => ({ ...PRICED, estimated_cost: { prompt: 0.0012, max } }));
    assert.equal(
      sentenceOfCost([explained(one ?? {}, other ?? {}), explained(one ?? {})], ['acme/one', 'acme/two']),
      'Before: about 0.002400 $ for 2,400 tokens in, at most 0.010700 $ for all 2',
    );
  });

  test('is unknown where a column has no price, and free where nothing costs', () => {
    const unknown = { price: null, estimated_cost: null };
    assert.equal(
      sentenceOfCost([explained(PRICED), explained(unknown)], ['acme/one', 'acme/two']),
      'Before: the price of a column is unknown.',
    );
    const free = { price: { prompt: 0, completion: 0 }, estimated_cost: { prompt: 0 } };
    assert.equal(sentenceOfCost([explained(free)], ['acme/one']), 'Before: about 1,200 tokens in, free');
  });

  test('names the models that nothing can serve', () => {
    assert.equal(
      sentenceOfCost([explained(PRICED), explained(), undefined], ['acme/one', 'acme/two', 'acme/three']),
      'Before: no endpoint can serve acme/two, acme/three now. Explain says why.',
    );
  });
});
