import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import { BUILTIN_FILTER_SLUGS, LABEL_OF_BUILTIN } from '../canonical/guardrail-rules.ts';
import { GUARDRAILS } from './index.ts';

test('every folder is registered, and every registered kind stands under the name of its folder', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(folders.map(({ name }) => name).toSorted(), Object.keys(GUARDRAILS).toSorted());
  for (const [id, guardrail] of Object.entries(GUARDRAILS)) assert.equal(guardrail.id, id);
});

for (const slug of BUILTIN_FILTER_SLUGS)
  test(`the built-in filter ${slug} is looked for by one kind`, () => {
    const rule = { kind: 'builtin', slug, action: 'redact', userOnly: false, allowedPhrases: [] } as const;
    const label = LABEL_OF_BUILTIN[slug];
    const kinds = Object.values(GUARDRAILS).filter((kind) => kind.matcherOf({ ...rule, label }) !== undefined);
    assert.equal(kinds.length, 1);
  });
