import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { splitUserText } from './last-user-text.ts';

suite('what is wanted of a message', () => {
  test('is all of a message of one paragraph', () => {
    assert.deepEqual(splitUserText('Name three rivers in Peru'), {
      userText: 'Name three rivers in Peru',
      material: '',
    });
  });

  test('stands before an empty line, and what is to be worked on behind it', () => {
    const { userText, material } = splitUserText('Shorten this.\n\nOnce there was a tax on windows.');
    assert.equal(userText, 'Shorten this.');
    assert.match(material, /tax on windows/);
  });

  test('repeats the request in the last line', () => {
    const { userText } = splitUserText('Look at this.\n\nfirst line\nsecond line\n\nWhat is missing here?');
    assert.match(userText, /^Look at this\.\nWhat is missing here\?$/);
  });

  test('is not the last point of a list', () => {
    assert.equal(
      splitUserText('Sort these:\n- where is my coat?\n- what is for dinner?').userText.includes('dinner'),
      false,
    );
  });

  test('is neither code in a fence nor a long quotation', () => {
    const { userText, material } = splitUserText(
      'Explain ```rm -rf build``` and "a sentence that goes on for quite a while".',
    );
    assert.doesNotMatch(userText, /rm -rf|goes on/);
    assert.match(material, /rm -rf/);
    assert.match(material, /goes on/);
  });

  test('ends at a colon before a long text, as far as that is recognizable', () => {
    const { opening } = splitUserText(`Into Danish: ${'The boats stay in the harbour today. '.repeat(3)}`);
    assert.equal(opening, 'Into Danish:');
    assert.equal(splitUserText('Into Danish: good night').opening, undefined);
  });
});
