import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { DEPTH_MAX, VALUES_MAX, findExcess } from './json-bounds.ts';

function nested(depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
}

test('ordinary JSON is within bounds', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => findExcess(value) === undefined));
});

test('the deepest nesting passes, one more level does not', () => {
  assert.equal(findExcess(nested(DEPTH_MAX)), undefined);
  assert.match(findExcess(nested(DEPTH_MAX + 1)) ?? '', /levels deep/);
  assert.match(findExcess({ tools: [{ parameters: nested(DEPTH_MAX) }] }) ?? '', /levels deep/);
});

test('nesting that would exhaust the stack is only called too deep', () => {
  assert.match(findExcess(nested(500_000)) ?? '', /levels deep/);
});

test('values count wherever they stand: items, members, and below both', () => {
  assert.equal(findExcess(Array.from({ length: VALUES_MAX }, () => 1)), undefined);
  assert.match(findExcess(Array.from({ length: VALUES_MAX + 1 }, () => 1)) ?? '', /at most/);
  assert.match(findExcess({ a: Array.from({ length: VALUES_MAX }, () => 1) }) ?? '', /at most/);
  const wide = Object.fromEntries(Array.from({ length: VALUES_MAX + 1 }, (_, index) => [`k${index}`, '']));
  assert.match(findExcess(wide) ?? '', /at most/);
  assert.match(findExcess(Array.from({ length: VALUES_MAX / 2 }, () => [1, 2])) ?? '', /at most/);
});

test('a value alone is never too much', () => {
  for (const value of [undefined, null, '', 'x'.repeat(1_000_000), 1, true]) assert.equal(findExcess(value), undefined);
});
