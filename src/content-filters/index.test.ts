import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { BUILTIN_FILTER_SLUGS, LABEL_OF_BUILTIN } from '../canonical/guardrail-rules.ts';
import { CONTENT_FILTERS } from './index.ts';

test('registers every folder, and every kind under the name of its folder', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(folders.map(({ name }) => name).toSorted(), Object.keys(CONTENT_FILTERS).toSorted());
  for (const [id, filter] of Object.entries(CONTENT_FILTERS)) assert.equal(filter.id, id);
});

for (const slug of BUILTIN_FILTER_SLUGS)
  // @spec filter-5
  test(`has one kind for the built-in filter ${slug}`, () => {
    const rule = { kind: 'builtin', slug, action: 'redact', userOnly: false, allowedPhrases: [] } as const;
    const label = LABEL_OF_BUILTIN[slug];
    const kinds = Object.values(CONTENT_FILTERS).filter((kind) => kind.matcherOf({ ...rule, label }) !== undefined);
    assert.equal(kinds.length, 1);
  });
