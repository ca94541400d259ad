import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TextTemplate } from './text-template.ts';

const VARYING = /(?<="sequence_number": ?)\d+|(?<="obfuscation": ?")[^"\\]*(?=")/;
const PADDING = /,"obfuscation": ?"[^"\\]*"/g;

function createTemplate(member = 'content'): TextTemplate {
  return new TextTemplate({ member, varying: VARYING, padding: PADDING });
}

const eventOf = (text: string, id = 'a', tail = ''): string =>
  `{"id":"${id}","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]${tail}}`;
const contentOf = (data: string): unknown => JSON.parse(data).choices[0].delta.content;

function learnt(data: string, text: string, member = 'content'): TextTemplate {
  const template = createTemplate(member);
  template.learn(data, text);
  return template;
}

test('reads an event that differs in its text alone without parsing it, whatever it escapes', () => {
  const template = learnt(eventOf('Hello'), 'Hello');
  for (const text of [' wörld 🌍', 'a "quoted" word', 'C:\\', '\\"', 'two\nlines', '"},"x":"'])
    assert.equal(template.match(eventOf(text))?.text, text);
});

test('finds the parts of an object, so that they make the event again', () => {
  const template = createTemplate();
  for (const text of ['Hello', 'a "b"\n'])
    for (const frame of [template.learn(eventOf(text), text), template.match(eventOf(text))?.frame])
      assert.equal(`${frame?.head}${frame?.json}${frame?.tail}`, eventOf(text));
});

test('gives all events that it recognises the same head and tail', () => {
  const template = learnt(eventOf('Hello'), 'Hello');
  const [first, second] = ['a', 'b'].map((text) => template.match(eventOf(text))?.frame);
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(Object.is(first.head, second.head) && Object.is(first.tail, second.tail));
});

test('reads the same as a parser from any event', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('"', '\\', '\\\\', '"}', 'content', '"content":"x"', '\n', '","obfuscation":"'),
  );
  const tail = fc.constantFrom('', ',"usage":null', ',"obfuscation":"abc"', ',"obfuscation":"de"', ',"content":"y"');
  fc.assert(
    fc.property(text, text, tail, tail, fc.constantFrom('a', 'content'), (first, second, tail1, tail2, id) => {
      const template = learnt(eventOf(first, 'a', tail1), first);
      const data = eventOf(second, id, tail2);
      const read = template.match(data);
      if (read !== undefined) assert.equal(read.text, contentOf(data));
    }),
  );
});

test('leaves what is cut or changed anywhere to the parser, unless it is the same for a parser', () => {
  const tail = ',"obfuscation":"xyz"';
  const template = learnt(eventOf('Hello', 'a', tail), 'Hello');
  const data = eventOf('a "b" c', 'a', tail);
  for (let at = 0; at <= data.length; at++)
    for (const odd of [
      data.slice(0, at),
      data.slice(0, at) + data.slice(at + 1),
      `${data.slice(0, at)}"${data.slice(at)}`,
    ]) {
      const read = template.match(odd);
      if (read !== undefined) assert.equal(read.text, contentOf(odd), odd);
    }
});

test('leaves an empty text, control characters and other neighbours to the parser', () => {
  const template = learnt(eventOf('Hello'), 'Hello');
  const raw = eventOf('X').replace('X', 'a\tb');
  for (const data of [
    eventOf(''),
    raw,
    eventOf('X').replace('X', '\\q'),
    eventOf('x', 'b'),
    eventOf('x', 'a', ',"y":1'),
  ])
    assert.equal(template.match(data), undefined, data);
});

test('takes numbers of events and padding for the same, and leaves the padding out', () => {
  const eventAt = (number: number, text: string, padding: string): string =>
    `{"type":"x.delta","sequence_number":${number},"delta":"${text}","logprobs":[],"obfuscation":"${padding}"}`;
  const template = learnt(eventAt(7, 'a', 'abc'), 'a', 'delta');
  for (const number of [0, 8, 1234]) {
    const read = template.match(eventAt(number, 'bc', 'q'.repeat(number % 9)));
    assert.equal(read?.text, 'bc');
    assert.doesNotMatch(read.frame.tail, /obfuscation/);
  }
  assert.equal(template.match(eventAt(8, 'bc', 'a\\"b')), undefined);
  assert.equal(template.match(eventAt(8, 'bc', 'a').replace(':8,', ':08,')), undefined);
  assert.equal(template.match(eventAt(8, 'bc', 'a').replace(':8,', ':8.5,')), undefined);
});

test('follows the member that counts of two with one name', () => {
  const data = '{"choices":[{"index":0,"delta":{"content":"a","content":"a"},"finish_reason":null}]}';
  const template = learnt(data, 'a');
  assert.equal(template.match(data.replace('"content":"a",', '"content":"b",')), undefined);
  assert.equal(template.match(data.replace('"content":"a"}', '"content":"b"}'))?.text, 'b');
});

test('learns nothing more after eight events in a row that were none of a kind', () => {
  const template = createTemplate();
  for (const id of 'abcdefgh') template.learn(eventOf('x', id), 'x');
  assert.equal(template.match(eventOf('y', 'h'))?.text, 'y');
  for (const id of 'abcdefghi') template.learn(eventOf('x', id), 'x');
  assert.equal(template.match(eventOf('y', 'i')), undefined);
});
