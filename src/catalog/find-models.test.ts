import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCatalog } from './catalog.ts';
import { findModels } from './find-models.ts';
import type { Model } from './model.ts';

function model(slug: string, more: Partial<Model> = {}): Model {
  return { slug, name: slug, endpoints: [], ...more };
}

const catalog = createCatalog(
  [
    model('acme/old-coder', { released: '2025-01', description: 'Writes code.', tokenizer: 'Acme' }),
    model('acme/coder', { released: '2026-01', contextTokensMax: 200_000, tokenizer: 'Acme' }),
    model('acme/eye', {
      inputModalities: ['text', 'image'],
      contextTokensMax: 32_000,
      description: 'Sees. A coder, too.',
    }),
    model('acme/painter', { outputModalities: ['text', 'image'] }),
  ],
  [],
);

const slugs = (query: Parameters<typeof findModels>[1]): readonly string[] =>
  findModels(catalog, query).map(({ slug }) => slug);

test('requires every word somewhere, and prefers names over descriptions', () => {
  assert.deepEqual(slugs({ words: 'Coder' }), ['acme/coder', 'acme/old-coder', 'acme/eye']);
  assert.deepEqual(slugs({ words: 'coder sees' }), ['acme/eye']);
  assert.deepEqual(slugs({ words: 'coder unicorn' }), []);
});

test('lists the newest first without words', () => {
  assert.deepEqual(slugs({}).slice(0, 2), ['acme/coder', 'acme/old-coder']);
});

// @spec tool-30
test('requires all modalities and the context length', () => {
  assert.deepEqual(slugs({ inputModalities: ['image', 'text'] }), ['acme/eye']);
  assert.deepEqual(slugs({ outputModalities: ['image'] }), ['acme/painter']);
  assert.deepEqual(slugs({ contextTokensMin: 100_000 }), ['acme/coder']);
  assert.deepEqual(slugs({ inputModalities: ['audio'] }), []);
});

test('recognizes a family by its name', () => {
  assert.deepEqual(slugs({ series: 'ACME' }), ['acme/coder', 'acme/old-coder']);
  assert.equal(findModels(catalog, { words: 'painter' })[0]?.series, 'Other');
});
