import assert from 'node:assert/strict';
import test from 'node:test';
import { webOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { engine: 'native', max_results: 5, max_uses: 3, search_prompt: 'Look it up.' },
  { engine: 'exa', mode: 'deep-reasoning' },
  { engine: 'firecrawl' },
  { engine: 'parallel', mode: 'turbo' },
  { engine: 'perplexity' },
  { engine: 'searxng' },
  { include_domains: ['*.example.com', 'example.org/docs'], exclude_domains: [] },
  { user_location: { type: 'approximate', city: 'Oslo', country: 'NO', region: null, timezone: 'Europe/Oslo' } },
  { user_location: null },
  { x_search: { allowed_x_handles: ['a'] } },
  { x_search: 'invalid filters are dropped, not refused' },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ engine: 'google' }, 'engine'],
  [{ engine: null }, 'engine'],
  [{ mode: 'slow' }, 'mode'],
  [{ max_results: 0 }, 'max_results'],
  [{ max_results: 2.5 }, 'max_results'],
  [{ max_results: '5' }, 'max_results'],
  [{ max_uses: -1 }, 'max_uses'],
  [{ search_prompt: 1 }, 'search_prompt'],
  [{ include_domains: 'example.com' }, 'include_domains'],
  [{ exclude_domains: [1] }, 'exclude_domains.0'],
  [{ exclude_domains: ['x.com', 'no site'] }, 'exclude_domains.1'],
  [{ include_domains: Array.from({ length: 201 }, () => 'x.com') }, 'include_domains'],
  [{ user_location: { type: 'exact' } }, 'user_location.type'],
  [{ user_location: { city: 7 } }, 'user_location.city'],
];

for (const options of TAKEN) {
  // @spec web-12
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(webOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = webOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
