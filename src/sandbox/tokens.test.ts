import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { countTokens, splitPieces, splitTokens } from './tokens.ts';

for (const [text, tokens] of [
  ['', []],
  ['a', ['a']],
  ['Hello, world', ['Hell', 'o,', ' worl', 'd']],
  ['12345678', ['1234', '5678']],
  ['  two spaces  ', ['  two', ' spac', 'es  ']],
  ['a\n\nb\n', ['a', '\n\nb\n']],
  ['   ', ['   ']],
  ['😀😀😀😀😀', ['😀😀😀😀', '😀']],
  ['1 2 3', ['1', ' 2', ' 3']],
] as const) {
  test(`splits ${JSON.stringify(text)} into ${tokens.length} tokens`, () => {
    assert.deepEqual(splitTokens(text), tokens);
    assert.equal(countTokens(text), tokens.length);
  });
}

test('splits into tokens that join to the text, and counts as many', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const tokens = splitTokens(text);
      assert.equal(tokens.join(''), text);
      assert.equal(countTokens(text), tokens.length);
      assert.ok(tokens.every((token) => token !== ''));
    }),
  );
});

test('pieces joined are the text, and no piece breaks a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 9 }), (text, chars) => {
      const pieces = splitPieces(text, chars);
      assert.equal(pieces.join(''), text);
      assert.ok(pieces.every((piece) => piece !== '' && piece.isWellFormed()));
    }),
  );
});
