import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  call,
  callsOf,
  chunk,
  finish,
  foldStream,
  GROUNDED,
  kindsOf,
  OTHER_SIGNATURE,
  PARTIAL_CALL,
  partial,
  SIGNATURE,
  textOfBlocks,
  THOUGHT_AND_CALLS,
} from '../../../../tests/support/wire/gemini/streams.ts';

suite('a thought signature', () => {
  test('stands right before its call, names it, and stands on it for clients that keep nothing else', () => {
    const response = foldStream(THOUGHT_AND_CALLS);
    assert.deepEqual(kindsOf(response), ['text', 'encrypted(fc_1)', 'tool-call', 'tool-call']);
    const [, signature, first, second] = response.blocks;
    assert.ok(signature?.type === 'reasoning' && first?.type === 'tool-call' && second?.type === 'tool-call');
    assert.deepEqual([signature.text, signature.family], [SIGNATURE, 'google-gemini-v1']);
    assert.deepEqual(first.extra, {
      format: 'chat',
      fields: { extra_content: { google: { thought_signature: SIGNATURE } } },
    });
    assert.equal(second.extra, undefined);
  });

  test('stands before its text', () => {
    const response = foldStream([
      chunk([{ text: 'So', thoughtSignature: SIGNATURE }]),
      finish('STOP', [{ text: ' be it.' }]),
    ]);
    assert.deepEqual(kindsOf(response), ['encrypted', 'text']);
    assert.equal(textOfBlocks(response, 'text'), 'So be it.');
  });

  test('does not tear a text apart that has begun', () => {
    const response = foldStream([
      chunk([{ text: 'So' }]),
      chunk([{ text: ' be', thoughtSignature: SIGNATURE }]),
      finish('STOP', [{ text: ' it.' }]),
    ]);
    assert.deepEqual(kindsOf(response), ['text', 'encrypted']);
    assert.equal(textOfBlocks(response, 'text'), 'So be it.');
  });

  test('is kept on an empty text', () => {
    const response = foldStream(GROUNDED);
    assert.deepEqual(kindsOf(response), ['text', 'encrypted']);
    const last = response.blocks.at(-1);
    assert.equal(last?.type === 'reasoning' && last.text, OTHER_SIGNATURE);
  });

  test('stands before its picture', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw==' }, thoughtSignature: SIGNATURE };
    assert.deepEqual(kindsOf(foldStream([finish('STOP', [picture])])), ['encrypted', 'media']);
  });

  test('is none when it is no base64', () => {
    const response = foldStream([finish('STOP', [{ text: 'So.', thoughtSignature: 'not: base64!' }])]);
    assert.deepEqual(kindsOf(response), ['text']);
  });
});

suite('a tool call', () => {
  test('keeps the very bytes of its arguments', () => {
    const args = '{"b":1.0, "a" : 12345678901234567890,"c":{"d":"\\u00fc","thoughtSignature":["]","}"]}}';
    const line = `{"candidates":[{"content":{"parts":[{"text":"{"},{"functionCall":{"name":"f","args":${args}}}]}}]}`;
    const response = foldStream([line, finish('STOP')]);
    assert.deepEqual(callsOf(response), [`f(${args})`]);
  });

  test('keeps the id that the vendor gave, and gets one where there is none or it came before', () => {
    const response = foldStream([
      chunk([call('a', {}, { id: 'x' }), call('b', {}, { id: 'x' }), call('c', {})]),
      finish('STOP'),
    ]);
    const ids = response.blocks.map((block) => (block.type === 'tool-call' ? block.id : ''));
    assert.equal(ids[0], 'x');
    assert.match(ids[1] ?? '', /^call_\w{24}$/);
    assert.match(ids[2] ?? '', /^call_\w{24}$/);
    assert.equal(new Set(ids).size, 3);
  });

  for (const args of [undefined, null]) {
    test(`has no arguments for ${JSON.stringify(args) ?? 'nothing'}`, () => {
      const functionCall = args === undefined ? { name: 'now' } : { name: 'now', args };
      assert.deepEqual(callsOf(foldStream([finish('STOP', [{ functionCall }])])), ['now({})']);
    });
  }

  test('is left out without a name, and noted', () => {
    const response = foldStream([finish('STOP', [{ functionCall: { args: { a: 1 } } }])]);
    assert.deepEqual(response.blocks, []);
    assert.equal(response.warnings[0]?.code, 'event-skipped');
    assert.equal(response.end?.finish, 'stop');
  });
});

suite('a tool call in pieces', () => {
  test('is put together by the paths of its values', () => {
    assert.deepEqual(callsOf(foldStream(PARTIAL_CALL)), [
      'save({"items":[{"name":"Apple \\"Ü\\"","price":0.5}],"done":true})',
    ]);
  });

  test('ends with the response where its end does not come', () => {
    const response = foldStream([...PARTIAL_CALL.slice(0, 4), finish('STOP')]);
    assert.deepEqual(callsOf(response), ['save({"items":[{"name":"Apple \\"Ü\\""}]})']);
    assert.equal(response.end?.finish, 'tool_calls');
  });

  test('ends where another begins', () => {
    const response = foldStream([
      chunk([{ functionCall: { name: 'a', willContinue: true } }]),
      chunk([partial({ jsonPath: '$.x', numberValue: 1 })]),
      chunk([{ functionCall: { name: 'b', willContinue: true } }]),
      chunk([partial({ jsonPath: '$.y', numberValue: 2 })]),
      chunk([{ functionCall: {} }]),
      finish('STOP'),
    ]);
    assert.deepEqual(callsOf(response), ['a({"x":1})', 'b({"y":2})']);
  });

  test('ends where a text begins, but not at an empty one', () => {
    const response = foldStream([
      chunk([{ functionCall: { name: 'a', willContinue: true } }]),
      chunk([{ text: '' }]),
      chunk([partial({ jsonPath: '$.x', numberValue: 1 })]),
      finish('STOP', [{ text: 'Done.' }]),
    ]);
    assert.deepEqual(kindsOf(response), ['tool-call', 'text']);
    assert.deepEqual(callsOf(response), ['a({"x":1})']);
  });

  test('keeps numbers as they were written', () => {
    const line =
      '{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":' +
      '[{"jsonPath":"$.id","numberValue":12345678901234567890},{"jsonPath":"$.price","numberValue":1.0}],' +
      '"willContinue":true}}]}}],"usageMetadata":{"promptTokenCount":7}}';
    const response = foldStream([chunk([{ functionCall: { name: 'a', willContinue: true } }]), line, finish('STOP')]);
    assert.deepEqual(callsOf(response), ['a({"id":12345678901234567890,"price":1.0})']);
  });

  test('has no arguments where none came', () => {
    const response = foldStream([
      chunk([{ functionCall: { name: 'a', willContinue: true } }]),
      finish('STOP', [{ functionCall: {} }]),
    ]);
    assert.deepEqual(callsOf(response), ['a({})']);
  });

  test('leaves out what has no place, and notes it', () => {
    const response = foldStream([
      chunk([{ functionCall: { name: 'a', willContinue: true } }]),
      chunk([partial({ jsonPath: '$[?@.x]', numberValue: 1 })]),
      chunk([partial({ jsonPath: '$.list[5]', numberValue: 1 })]),
      finish('STOP', [{ functionCall: {} }]),
    ]);
    assert.equal(response.warnings.length, 2);
    assert.deepEqual(callsOf(response), ['a({"list":[]})']);
  });
});
