import assert from 'node:assert/strict';
import test from 'node:test';
import { webFetchOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { max_uses: 0 },
  { max_uses: 5, allowed_domains: ['example.com'], blocked_domains: ['example.org'], max_content_tokens: 4000 },
  { blocked_domains: null, max_content_tokens: null },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ max_uses: -1 }, 'max_uses'],
  [{ max_uses: null }, 'max_uses'],
  [{ allowed_domains: 'example.com' }, 'allowed_domains'],
  [{ blocked_domains: [1] }, 'blocked_domains.0'],
  [{ blocked_domains: ['http://'] }, 'blocked_domains.0'],
  [{ max_content_tokens: 0 }, 'max_content_tokens'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(webFetchOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = webFetchOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
