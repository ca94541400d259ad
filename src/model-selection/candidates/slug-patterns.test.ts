import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { matchesSlug, namesVariants, slugFilter } from './slug-patterns.ts';

/** A pattern, a slug, and whether the one means the other. */
const MATCHES: readonly (readonly [pattern: string, slug: string, matches: boolean])[] = [
  ['anthropic/*', 'anthropic/claude-opus-5', true],
  ['anthropic/*', 'openai/gpt-5', false],
  ['openai/gpt-5*', 'openai/gpt-5.1-codex', true],
  ['openai/gpt-5*', 'openai/gpt-5', true],
  ['openai/gpt-5', 'openai/gpt-5.1', false],
  ['*/claude-*', 'anthropic/claude-opus-5', true],
  ['*/claude-*', 'anthropic/claud', false],
  ['*', 'a/b', true],
  ['**', 'a/b', true],
  ['', 'a/b', false],
  ['a/*b*c', 'a/xbxbc', true],
  ['a/*b*c', 'a/xc', false],
  ['a*a', 'a', false],
  ['OpenAI/GPT-5', 'openai/gpt-5', true],
  ['a.b/c', 'axb/c', false],
];

for (const [pattern, slug, matches] of MATCHES) {
  test(`${JSON.stringify(pattern)} ${matches ? 'means' : 'does not mean'} ${slug}`, () => {
    assert.equal(matchesSlug(pattern, slug), matches);
  });
}

test('agrees with a regular expression with any run of characters for each star', () => {
  const piece = fc.constantFrom('a', 'b', '/', '*');
  const word = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), word, (parts, slug) => {
      const pattern = parts.join('');
      assert.equal(matchesSlug(pattern, slug), new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(slug));
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

// @spec router-13
test('prefers an exclusion to an allowance, and resolves an alias to its model', () => {
  const resolve = (alias: string): string | undefined => (alias === '~acme/top-latest' ? 'acme/top-2' : undefined);
  const filter = slugFilter({ allowed: ['acme/*'], excluded: ['~acme/top-latest'] }, resolve);
  assert.equal(filter('acme/one'), undefined);
  assert.equal(filter('acme/top-2'), 'excluded_models');
  assert.equal(filter('other/one'), 'allowed_models');
  assert.equal(slugFilter({}, resolve)('other/one'), undefined);
  assert.equal(slugFilter({ allowed: [] }, resolve)('acme/one'), 'allowed_models');
});

test('names a variant with a colon', () => {
  assert.equal(namesVariants({ allowed: ['*:free'] }), true);
  assert.equal(namesVariants({ allowed: ['acme/*'] }), false);
  assert.equal(namesVariants({}), false);
});
