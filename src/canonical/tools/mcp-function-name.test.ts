import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mcpFunctionName, mcpPlaceholderName } from './mcp-function-name.ts';

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

test('keeps a name that every vendor accepts', () => {
  assert.equal(mcpFunctionName('wiki', 'search_pages'), 'mcp_wiki_search_pages');
  assert.equal(mcpFunctionName('wiki', 'Get-Page'), 'mcp_wiki_Get-Page');
});

// @spec mcp-2
test('distinguishes names that would be equal, the same way in every request', () => {
  const names = ['a.b', 'a/b', 'a b', 'a_b'].map((tool) => mcpFunctionName('wiki', tool));
  assert.equal(new Set(names).size, names.length);
  assert.ok(
    names.every((name) => LEGAL.test(name)),
    names.join(),
  );
  assert.deepEqual(
    ['a.b', 'a/b', 'a b', 'a_b'].map((tool) => mcpFunctionName('wiki', tool)),
    names,
  );
});

test('cuts names that are too long, and distinguishes them', () => {
  const server = 's'.repeat(32);
  const [one, other] = [mcpFunctionName(server, `${'t'.repeat(127)}1`), mcpFunctionName(server, `${'t'.repeat(127)}2`)];
  assert.notEqual(one, other);
  assert.ok(LEGAL.test(one) && LEGAL.test(other));
  assert.match(mcpFunctionName('wiki', 'ü'.repeat(100)), LEGAL);
});

test('gives tools of different servers, and placeholders, different names', () => {
  assert.notEqual(mcpFunctionName('a', 'b_c'), mcpFunctionName('a-b', 'c'));
  assert.notEqual(mcpPlaceholderName('a-b'), mcpFunctionName('a', 'b'));
});
