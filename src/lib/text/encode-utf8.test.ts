import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encodeUtf8 } from './encode-utf8.ts';

describe('encodeUtf8', () => {
  test('gives the bytes of `Buffer.from`, whatever the text holds', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 300 }));
    fc.assert(fc.property(texts, (text) => assert.deepEqual(encodeUtf8(text), Buffer.from(text))));
  });

  test('encodes a text whose last character no longer fits', () => {
    for (const more of [0, 1, 20, 21, 22, 31, 32, 33, 63, 64, 65])
      for (const letter of ['a', '\u00e9', '\u4e2d', '\u{1f600}', '\ud800']) {
        const text = 'a'.repeat(100) + letter.repeat(more);
        assert.deepEqual(encodeUtf8(text), Buffer.from(text));
      }
  });
});
