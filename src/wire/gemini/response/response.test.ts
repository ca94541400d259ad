import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeWhole } from './response.ts';
import {
  call,
  callsOf,
  chunk,
  CODE_AND_PICTURE,
  finish,
  foldStream,
  GROUNDED,
  kindsOf,
  textOfBlocks,
  THOUGHT_AND_CALLS,
  WHOLE_CODE_AND_PICTURE,
  WHOLE_GROUNDED,
  WHOLE_THOUGHT_AND_CALLS,
  withCountedIds,
} from '../../../../tests/support/wire/gemini/streams.ts';

function foldText(text: string) {
  const events = decodeWhole(text);
  checkEvents(events);
  return foldEvents(events);
}

function foldWhole(response: JsonObject) {
  return foldText(JSON.stringify(response));
}

for (const [name, whole, chunks] of [
  ['a thought and calls', WHOLE_THOUGHT_AND_CALLS, THOUGHT_AND_CALLS],
  ['a text with sources', WHOLE_GROUNDED, GROUNDED],
  ['code and a picture', WHOLE_CODE_AND_PICTURE, CODE_AND_PICTURE],
] as const) {
  test(`decodes a whole response like its stream: ${name}`, () => {
    assert.deepEqual(withCountedIds(foldWhole(whole)), withCountedIds(foldStream(chunks)));
  });
}

test('arguments that span lines are written on one, each value as it stood', () => {
  const text = JSON.stringify(finish('STOP', [call('f', { at: 'ARGS' })]), undefined, 2).replace(
    '"ARGS"',
    '[ 1.0,\n  {"a b":\t" \\n  ü",\n"n": 12345678901234567890 } ]',
  );
  assert.deepEqual(callsOf(foldText(text)), ['f({"at":[1.0,{"a b":" \\n  ü","n":12345678901234567890}]})']);
});

test('arguments on one line stay as they are', () => {
  const text = '{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": { "a" : 1.0 }}}]}}]}';
  assert.deepEqual(callsOf(foldText(text)), ['f({ "a" : 1.0 })']);
});

test('decodes a list of chunks, which is a stream without SSE, to one response', () => {
  assert.deepEqual(
    withCountedIds(foldText(JSON.stringify(THOUGHT_AND_CALLS, undefined, 1))),
    withCountedIds(foldStream(THOUGHT_AND_CALLS)),
  );
});

test('decodes a response without a finish reason to an unknown end', () => {
  const response = foldWhole(chunk([{ text: 'So.' }]));
  assert.equal(textOfBlocks(response, 'text'), 'So.');
  assert.deepEqual(response.end, { type: 'end', finish: 'unknown' });
});

test('decodes a refused prompt to a response without content', () => {
  const response = foldWhole({ promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'gemini-2.5-flash' });
  assert.deepEqual(kindsOf(response), []);
  assert.deepEqual(response.end, { type: 'end', finish: 'content_filter', nativeFinish: 'SAFETY' });
});

suite('what is no response', () => {
  for (const text of ['', 'null', '[]', '{}', '[3]', '{"usageMetadata":{}}', '<html>', '{"candidates":']) {
    test(`${JSON.stringify(text)} is garbage`, () => {
      const response = foldText(text);
      assert.equal(response.failure?.kind, 'garbage');
    });
  }

  test('fails with its status on an error object', () => {
    const response = foldWhole({ error: { code: 400, message: 'Bad', status: 'INVALID_ARGUMENT' } });
    assert.deepEqual([response.failure?.kind, response.failure?.upstreamStatus], ['error-event', 400]);
  });
});
