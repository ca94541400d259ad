import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionNameOf, placeholderName } from './function-name.ts';

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

test('keeps a name that every vendor accepts', () => {
  assert.equal(functionNameOf('wiki', 'search_pages'), 'mcp_wiki_search_pages');
  assert.equal(functionNameOf('wiki', 'Get-Page'), 'mcp_wiki_Get-Page');
});

// @spec mcp-2
test('distinguishes names that would be equal, the same way in every request', () => {
  const names = ['a.b', 'a/b', 'a b', 'a_b'].map((tool) => functionNameOf('wiki', tool));
  assert.equal(new Set(names).size, names.length);
  assert.ok(
    names.every((name) => LEGAL.test(name)),
    names.join(),
  );
  assert.deepEqual(
    ['a.b', 'a/b', 'a b', 'a_b'].map((tool) => functionNameOf('wiki', tool)),
    names,
  );
});

test('cuts names that are too long, and distinguishes them', () => {
  const server = 's'.repeat(32);
  const [one, other] = [functionNameOf(server, `${'t'.repeat(127)}1`), functionNameOf(server, `${'t'.repeat(127)}2`)];
  assert.notEqual(one, other);
  assert.ok(LEGAL.test(one) && LEGAL.test(other));
  assert.match(functionNameOf('wiki', 'ü'.repeat(100)), LEGAL);
});

test('gives tools of different servers, and placeholders, different names', () => {
  assert.notEqual(functionNameOf('a', 'b_c'), functionNameOf('a-b', 'c'));
  assert.notEqual(placeholderName('a-b'), functionNameOf('a', 'b'));
});
