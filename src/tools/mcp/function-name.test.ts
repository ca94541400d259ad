import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionNameOf, placeholderName } from './function-name.ts';

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

test('a name that every vendor takes stays as it is', () => {
  assert.equal(functionNameOf('wiki', 'search_pages'), 'mcp_wiki_search_pages');
  assert.equal(functionNameOf('wiki', 'Get-Page'), 'mcp_wiki_Get-Page');
});

test('names that would come to the same are told apart, and stay the same from one request to the next', () => {
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

test('names that are too long are cut, and still told apart', () => {
  const server = 's'.repeat(32);
  const [one, other] = [functionNameOf(server, `${'t'.repeat(127)}1`), functionNameOf(server, `${'t'.repeat(127)}2`)];
  assert.notEqual(one, other);
  assert.ok(LEGAL.test(one) && LEGAL.test(other));
  assert.match(functionNameOf('wiki', 'ü'.repeat(100)), LEGAL);
});

test('no tool of one server is called like one of another, nor like what stands for a server', () => {
  assert.notEqual(functionNameOf('a', 'b_c'), functionNameOf('a-b', 'c'));
  assert.notEqual(placeholderName('a-b'), functionNameOf('a', 'b'));
});
