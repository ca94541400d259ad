import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainText, ChunkTemplate } from './plain-chunk.ts';

const frameOf = (text: string, id = 'a', tail = ''): string =>
  `{"id":"${id}","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]${tail}}`;

function learnt(frame: string, text: string): ChunkTemplate {
  const template = new ChunkTemplate();
  template.learn(frame, text);
  return template;
}

test('reads a chunk that differs in its text alone without parsing it', () => {
  assert.equal(learnt(frameOf('Hello'), 'Hello').match(frameOf(' wörld 🌍')), ' wörld 🌍');
});

test('reads the same as a parser from any frame', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('"', '\\', '"}', 'content', '"content":"x"', '\n'),
  );
  const tail = fc.constantFrom('', ',"usage":null', ',"obfuscation":"abc"', ',"content":"y"');
  fc.assert(
    fc.property(text, text, tail, tail, fc.constantFrom('a', 'content'), (first, second, tail1, tail2, id) => {
      const template = learnt(frameOf(first, 'a', tail1), first);
      const frame = frameOf(second, id, tail2);
      const read = template.match(frame);
      if (read !== undefined) assert.equal(read, JSON.parse(frame).choices[0].delta.content);
    }),
  );
});

test('leaves a text with escapes, an empty one and one with other neighbours to the parser', () => {
  const template = learnt(frameOf('Hello'), 'Hello');
  for (const frame of [
    frameOf('a"b'),
    frameOf('a\\b'),
    frameOf('a\nb'),
    frameOf(''),
    frameOf('x', 'b'),
    frameOf('x', 'a', ',"y":1'),
  ])
    assert.equal(template.match(frame), undefined);
});

test('follows the member that counts of two with one name', () => {
  const frame = '{"choices":[{"index":0,"delta":{"content":"a","content":"a"},"finish_reason":null}]}';
  assert.equal(plainText(JSON.parse(frame)), 'a');
  const template = learnt(frame, 'a');
  assert.equal(template.match(frame.replace('"content":"a",', '"content":"b",')), undefined);
  assert.equal(template.match(frame.replace('"content":"a"}', '"content":"b"}')), 'b');
});

test('nothing is learnt from a text that is spelled in another way than ours', () => {
  const frame = '{"choices":[{"index":0,"delta":{"content":"\\u0041"},"finish_reason":null}]}';
  assert.equal(learnt(frame, 'A').match(frame.replace('\\u0041', 'B')), undefined);
});
