import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNotFinite } from './not-finite.ts';

const find = (text: string): readonly (string | number)[] | undefined => findNotFinite(text, JSON.parse(text));

test('the first number that no double holds is found, wherever it stands', () => {
  assert.deepEqual(find('1e400'), []);
  assert.deepEqual(find('{"a":[0,{"b":-1E+999}],"c":1e400}'), ['a', 1, 'b']);
  assert.deepEqual(find(`[${'9'.repeat(310)}]`), [0]);
});

test('what only looks so is left alone', () => {
  for (const text of ['"1e400"', '1e300', '1e-400', '{"a":"x1e4000"}', `"${'9'.repeat(400)}"`, 'null'])
    assert.equal(find(text), undefined, text);
});
