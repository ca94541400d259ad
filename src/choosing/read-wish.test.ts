import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readWish } from './read-wish.ts';

suite('what is wanted of a message', () => {
  test('is all of a message of one paragraph', () => {
    assert.deepEqual(readWish('Name three rivers in Peru'), { wish: 'Name three rivers in Peru', material: '' });
  });

  test('stands before an empty line, and what is to be worked on behind it', () => {
    const { wish, material } = readWish('Shorten this.\n\nOnce there was a tax on windows.');
    assert.equal(wish, 'Shorten this.');
    assert.match(material, /tax on windows/);
  });

  test('may be asked again in the last line', () => {
    const { wish } = readWish('Look at this.\n\nfirst line\nsecond line\n\nWhat is missing here?');
    assert.match(wish, /^Look at this\.\nWhat is missing here\?$/);
  });

  test('is not the last point of a list', () => {
    assert.equal(readWish('Sort these:\n- where is my coat?\n- what is for dinner?').wish.includes('dinner'), false);
  });

  test('is neither code in a fence nor a long quotation', () => {
    const { wish, material } = readWish('Explain ```rm -rf build``` and "a sentence that goes on for quite a while".');
    assert.doesNotMatch(wish, /rm -rf|goes on/);
    assert.match(material, /rm -rf/);
    assert.match(material, /goes on/);
  });

  test('ends at a colon before a long text, as far as that may be told', () => {
    const { opening } = readWish(`Into Danish: ${'The boats stay in the harbour today. '.repeat(3)}`);
    assert.equal(opening, 'Into Danish:');
    assert.equal(readWish('Into Danish: good night').opening, undefined);
  });
});
