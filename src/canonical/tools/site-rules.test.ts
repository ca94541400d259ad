import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtSite, parseSiteRule, type SiteRule } from './site-rules.ts';

function rule(text: string): SiteRule {
  const read = parseSiteRule(text);
  assert.ok(read !== undefined, text);
  return read;
}

const CASES: readonly (readonly [rule: string, address: string, isThere: boolean])[] = [
  ['x.com', 'https://x.com/', true],
  ['x.com', 'https://news.x.com/a', true],
  ['x.com', 'https://X.COM./a', true],
  ['X.com', 'https://x.com:8443/', true],
  ['x.com', 'https://notx.com/', false],
  ['x.com', 'https://x.com.evil.example/', false],
  ['x.com', 'https://evil.example/x.com', false],
  ['x.com', 'https://x.com@evil.example/', false],
  ['*.x.com', 'https://a.x.com/', true],
  ['*.x.com', 'https://x.com/', false],
  ['.gov', 'https://a.b.gov/', true],
  ['x.com/docs', 'https://x.com/docs', true],
  ['x.com/docs/', 'https://www.x.com/docs/a', true],
  ['x.com/docs', 'https://x.com/docs-of-others', false],
  ['https://x.com/docs', 'https://x.com/docs/a?b#c', true],
  ['x.com/docs/*', 'https://x.com/docs/a', true],
  ['x.com/*', 'https://x.com/', true],
  ['x.com/docs/*', 'https://x.com/blog', false],
  ['bücher.example', 'https://xn--bcher-kva.example/', true],
  ['x.com', 'no address', false],
];

// @spec web-6
test('matches the host and those below it, from a path on where the rule has one', () => {
  for (const [text, address, isThere] of CASES)
    assert.equal(isAtSite(address, [rule(text)]), isThere, `${text} and ${address}`);
});

test('parses a long row of slashes as fast as anything else', { timeout: 20_000 }, () => {
  assert.equal(parseSiteRule(`x.com${'/'.repeat(1_000_000)}x`), undefined);
});

test('rejects a rule without a host', () => {
  for (const text of ['', '  ', '*', '*.', '/path', 'a b.com', 'user@x.com', 'a*b.com', `x.com/${'a'.repeat(1_024)}`])
    assert.equal(parseSiteRule(text), undefined, text);
});
