import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readModelsDev } from './models-dev.ts';

const SLUGS = new Map([
  ['acme-cloud', 'acme'],
  ['beta', 'beta'],
]);
const ROW = {
  id: 'one',
  name: 'One',
  release_date: '2026-05-28',
  knowledge: '2026-01',
  modalities: { input: ['text', 'pdf'], output: ['text'] },
  limit: { context: 200_000, output: 32_000 },
  cost: { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25, input_audio: 9 },
};
const READ = {
  provider: 'acme',
  model: 'one',
  name: 'One',
  released: '2026-05-28',
  knowledge_cutoff: '2026-01',
  input_modalities: ['text', 'file'],
  output_modalities: ['text'],
  context_length: 200_000,
  max_completion_tokens: 32_000,
  price: { prompt: 5, completion: 25, cache_read: 0.5, cache_write: 6.25, audio: 9 },
};

function read(models: Record<string, object>) {
  return readModelsDev(JSON.parse(JSON.stringify({ 'acme-cloud': { id: 'acme-cloud', models } })), SLUGS);
}

suite('the list of models.dev', () => {
  test('is read in our words, and only of providers that we know', () => {
    const list = { 'acme-cloud': { models: { one: ROW } }, aggregator: { models: { two: ROW } } };
    assert.deepEqual(readModelsDev(JSON.parse(JSON.stringify(list)), SLUGS), [READ]);
  });

  test('has prices of long prompts in tiers, and in the member that stood for them before', () => {
    const dearer = { input: 10, output: 37.5 };
    const tiers = [{ ...dearer, tier: { type: 'context', size: 272_000 } }];
    const of = (cost: object) => read({ one: { ...ROW, cost } })?.[0]?.price?.overrides;
    assert.deepEqual(of({ input: 5, output: 25, tiers, context_over_200k: dearer }), [
      { prompt: 10, completion: 37.5, min_prompt_tokens: 272_000 },
    ]);
    assert.deepEqual(of({ input: 5, output: 25, context_over_200k: dearer }), [
      { prompt: 10, completion: 37.5, min_prompt_tokens: 200_000 },
    ]);
  });

  test('ignores an invalid field, and the whole row with an invalid name or modalities', () => {
    const [odd] =
      read({ one: { ...ROW, release_date: 'soon', limit: { context: -1, output: 'much' }, cost: { input: -5 } } }) ??
      [];
    const {
      released: _released,
      context_length: _context,
      max_completion_tokens: _output,
      price: _price,
      ...rest
    } = READ;
    assert.deepEqual(odd, rest);
    for (const change of [{ name: 7 }, { name: 'x'.repeat(201) }, { modalities: { input: ['smell'], output: [] } }])
      assert.equal(read({ one: { ...ROW, ...change } }), undefined);
    assert.equal(read({ 'a name with spaces': ROW }), undefined);
  });

  test('leaves out deprecated models, embeddings and rerankers', () => {
    assert.deepEqual(
      read({ one: ROW, old: { ...ROW, status: 'deprecated' }, 'acme-embed-3': ROW, v: { ...ROW, family: 'rerank' } }),
      [READ],
    );
  });

  test('rejects anything else', () => {
    for (const value of [undefined, null, 7, 'x', [], {}, { 'acme-cloud': { models: [] } }, { beta: null }])
      assert.equal(readModelsDev(value, SLUGS), undefined);
  });
});
