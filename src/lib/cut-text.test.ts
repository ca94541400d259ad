import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutAtWord } from './cut-text.ts';

test('a text is cut at a word where one ends near, and never inside a character', () => {
  assert.equal(cutAtWord('one two three', 20), 'one two three');
  assert.equal(cutAtWord('one two three', 9), 'one two');
  assert.equal(cutAtWord('one two three', 7), 'one two');
  assert.equal(cutAtWord('a verylongwordthatgoeson', 10), 'a verylong');
  assert.equal(cutAtWord('😀😀😀', 3), '😀');
  assert.equal(cutAtWord('😀😀😀', 4), '😀😀');
});
