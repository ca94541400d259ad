import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truncateAtWord } from './truncate.ts';

test('truncates at a word where one ends near, and never within a character', () => {
  assert.equal(truncateAtWord('one two three', 20), 'one two three');
  assert.equal(truncateAtWord('one two three', 9), 'one two');
  assert.equal(truncateAtWord('one two three', 7), 'one two');
  assert.equal(truncateAtWord('a verylongwordthatgoeson', 10), 'a verylong');
  assert.equal(truncateAtWord('😀😀😀', 3), '😀');
  assert.equal(truncateAtWord('😀😀😀', 4), '😀😀');
});
