import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { DEPTH_MAX, MEMBERS_MAX, VALUES_MAX, findExcess } from './bounds.ts';

function nested(depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
}

test('accepts ordinary JSON', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => findExcess(value) === undefined));
});

test('accepts the deepest nesting and refuses one more level', () => {
  assert.equal(findExcess(nested(DEPTH_MAX)), undefined);
  assert.match(findExcess(nested(DEPTH_MAX + 1))?.message ?? '', /levels deep/);
  assert.match(findExcess({ tools: [{ parameters: nested(DEPTH_MAX) }] })?.message ?? '', /levels deep/);
});

test('reports nesting that would exhaust the stack as too deep', () => {
  assert.match(findExcess(nested(500_000))?.message ?? '', /levels deep/);
});

test('counts values at any place: items, members, and below both', () => {
  assert.equal(findExcess(Array.from({ length: VALUES_MAX }, () => 1)), undefined);
  assert.match(findExcess(Array.from({ length: VALUES_MAX + 1 }, () => 1))?.message ?? '', /at most/);
  assert.match(findExcess({ a: Array.from({ length: VALUES_MAX }, () => 1) })?.message ?? '', /at most/);
  assert.match(findExcess(Array.from({ length: VALUES_MAX / 2 }, () => [1, 2]))?.message ?? '', /at most/);
});

test('accepts every single value', () => {
  for (const value of [undefined, null, '', 'x'.repeat(1_000_000), 1, true]) assert.equal(findExcess(value), undefined);
});

test('names an object with too many members, at any place', () => {
  const objectOf = (length: number) => Object.fromEntries(Array.from({ length }, (_, index) => [index * 7, 1]));
  assert.equal(findExcess({ tools: [{}, { parameters: objectOf(MEMBERS_MAX) }] }), undefined);
  assert.deepEqual(findExcess({ tools: [{}, { parameters: objectOf(MEMBERS_MAX + 1) }] }), {
    path: ['tools', 1, 'parameters'],
    message: 'must have at most 10000 fields',
  });
});
