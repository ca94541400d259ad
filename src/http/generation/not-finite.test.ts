import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTH_MAX } from '../../lib/json/bounds.ts';
import { findNotFinite } from './not-finite.ts';

const find = (text: string): readonly (string | number)[] | undefined => findNotFinite(JSON.parse(text));

test('finds the first number that exceeds a double, at any place', () => {
  assert.deepEqual(find('1e400'), []);
  assert.deepEqual(find('{"a":[0,{"b":-1E+999}],"c":1e400}'), ['a', 1, 'b']);
  assert.deepEqual(find(`[${'9'.repeat(310)}]`), [0]);
});

test('leaves numbers that a double holds, and texts that look like larger ones', () => {
  for (const text of ['"1e400"', '1e300', '1e-400', '{"a":"x1e4000"}', `"${'9'.repeat(400)}"`, 'null', '[[],{}]'])
    assert.equal(find(text), undefined, text);
});

test('looks no deeper than a request may be nested', () => {
  const nest = (depth: number): string => `${'['.repeat(depth)}1e400${']'.repeat(depth)}`;
  assert.equal(find(nest(DEPTH_MAX))?.length, DEPTH_MAX);
  assert.equal(find(nest(60_000)), undefined);
});
