import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ResponseCapture } from './response-capture.ts';

suite('what an answer says', () => {
  test('is text, reasoning and calls, whatever pieces they come in', () => {
    const capture = new ResponseCapture();
    capture.push([
      { type: 'block-start', index: 0, block: { type: 'reasoning', form: 'text', text: 'Let me ' } },
      { type: 'block-delta', index: 0, text: 'think.' },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, block: { type: 'text', text: '' } },
    ]);
    capture.push([
      { type: 'block-delta', index: 1, text: 'Hello' },
      { type: 'block-end', index: 1 },
      {
        type: 'block-start',
        index: 2,
        block: { type: 'tool-call', id: 'a', name: 'look', input: '', runBy: 'caller' },
      },
      {
        type: 'block-start',
        index: 3,
        block: { type: 'tool-call', id: 'b', name: 'see', input: '{}', runBy: 'caller' },
      },
      { type: 'block-delta', index: 2, text: '{"x":1}' },
    ]);
    assert.deepEqual(capture.answer(), {
      text: 'Hello',
      reasoning: 'Let me think.',
      toolCalls: [
        { id: 'a', name: 'look', input: '{"x":1}' },
        { id: 'b', name: 'see', input: '{}' },
      ],
      isCut: false,
    });
  });

  test('leaves out what is encrypted, and media', () => {
    const capture = new ResponseCapture();
    capture.push([
      { type: 'block-start', index: 0, block: { type: 'reasoning', form: 'encrypted', text: 'AAAA' } },
      { type: 'block-delta', index: 0, text: 'BBBB' },
      {
        type: 'block-start',
        index: 1,
        block: { type: 'media', media: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'CCCC' } },
      },
      { type: 'block-delta', index: 1, text: 'DDDD' },
    ]);
    assert.deepEqual(capture.answer(), { text: '', reasoning: '', toolCalls: [], isCut: false });
  });

  test('is cut where it grows too long, and says so', () => {
    const capture = new ResponseCapture();
    capture.push([{ type: 'block-start', index: 0, block: { type: 'text', text: '' } }]);
    for (let piece = 0; piece < 20; piece++)
      capture.push([{ type: 'block-delta', index: 0, text: 'x'.repeat(64 * 1_024) }]);
    const { text, isCut } = capture.answer();
    assert.equal(text.length, 512 * 1_024);
    assert.equal(isCut, true);
  });
});
