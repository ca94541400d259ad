import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeWhole } from './response.ts';
import {
  callsOf,
  DOCUMENT,
  foldStream,
  PLAN_AND_CALLS,
  textOfBlocks,
  THOUGHT_AND_CITED,
  USAGE,
  WHOLE_PLAN_AND_CALLS,
  WHOLE_THOUGHT_AND_CITED,
  WHOLE_WITH_LOGPROBS,
  WITH_LOGPROBS,
} from '../../../../tests/support/wire/cohere/streams.ts';

function foldWhole(response: JsonObject) {
  const events = decodeWhole(JSON.stringify(response));
  checkEvents(events);
  return foldEvents(events);
}

for (const [name, whole, events] of [
  ['thinking, text and citations', WHOLE_THOUGHT_AND_CITED, THOUGHT_AND_CITED],
  ['a plan and calls', WHOLE_PLAN_AND_CALLS, PLAN_AND_CALLS],
  ['log probabilities', WHOLE_WITH_LOGPROBS, WITH_LOGPROBS],
] as const) {
  test(`decodes a whole response like its stream: ${name}`, () => {
    assert.deepEqual(foldWhole(whole), foldStream(events));
  });
}

test('log probabilities of thinking are left out, as the chat format has none', () => {
  const response = foldWhole({
    id: 'x',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Yes.' },
      ],
    },
    finish_reason: 'COMPLETE',
    logprobs: [
      { text: 'Hm.', token_ids: [1], logprobs: [-3] },
      { text: 'Yes', token_ids: [2], logprobs: [-2] },
      { text: '.', token_ids: [3], logprobs: [-1] },
    ],
  });
  assert.equal(response.blocks[0]?.extra, undefined);
  assert.match(JSON.stringify(response.blocks[1]?.extra), /"Yes","logprob":-2,.*"\.","logprob":-1/);
  assert.doesNotMatch(JSON.stringify(response.blocks[1]?.extra), /Hm/);
});

test('omits a citation of a missing part, with a warning', () => {
  const citations = [{ start: 0, end: 1, text: 'x', sources: [DOCUMENT], content_index: 9 }];
  const response = foldWhole({ id: 'x', message: { content: [{ type: 'text', text: 'x' }], citations } });
  assert.equal(response.warnings.length, 1);
});

test('puts a plan right before its calls', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'text', text: 'Look.' },
  ];
  const call = { id: 'a', type: 'function', function: { name: 'one', arguments: '{}' } };
  const response = foldWhole({
    message: { content, tool_plan: 'I will look.', tool_calls: [call] },
    finish_reason: 'TOOL_CALL',
  });
  assert.deepEqual(
    response.blocks.map((block) => ('text' in block ? block.text : block.type)),
    ['Hm.', 'Look.', 'I will look.', 'tool-call'],
  );
});

test('content as one string is a text', () => {
  const response = foldWhole({ id: 'x', message: { content: 'So be it.' }, finish_reason: 'COMPLETE' });
  assert.equal(textOfBlocks(response, 'text'), 'So be it.');
});

test('arguments that say null are none', () => {
  const call = { id: 'a', type: 'function', function: { name: 'now', arguments: 'null' } };
  assert.deepEqual(callsOf(foldWhole({ message: { tool_calls: [call] }, finish_reason: 'TOOL_CALL' })), ['a now({})']);
});

test('fails a response that ended with an error', () => {
  const response = foldWhole({ id: 'x', message: { role: 'assistant' }, finish_reason: 'ERROR', usage: USAGE });
  assert.equal(response.failure?.status, 502);
  assert.equal(response.usage?.promptTokens, 210);
});

test('fails with its status on an error object in place of a response', () => {
  const events = decodeWhole('{"error_type":"TOO_MANY_TOKENS","id":"x","message":"too many tokens"}');
  assert.equal(events.length, 1);
  const { failure } = foldEvents(events);
  assert.deepEqual([failure?.kind, failure?.errorType], ['error-event', 'context_length_exceeded']);
});

for (const text of ['', 'null', '[]', '{}', '{"id":"x"}', '<html>', '{"message":']) {
  test(`${JSON.stringify(text)} is garbage`, () => {
    assert.equal(foldEvents(decodeWhole(text)).failure?.kind, 'garbage');
  });
}

test('whatever stands in a response gives events of the grammar and never throws', () => {
  const part = fc.oneof(fc.constant({ type: 'text', text: 'x' }), fc.jsonValue());
  const message = fc.record(
    {
      content: fc.oneof(fc.array(part), fc.jsonValue()),
      tool_plan: fc.jsonValue(),
      tool_calls: fc.oneof(fc.array(fc.record({ function: fc.record({ name: fc.string() }) })), fc.jsonValue()),
      citations: fc.oneof(fc.array(fc.record({ start: fc.integer(), end: fc.integer() })), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const response = fc.record({
    message,
    finish_reason: fc.jsonValue(),
    usage: fc.jsonValue(),
    logprobs: fc.jsonValue(),
  });
  fc.assert(
    fc.property(fc.oneof(response, fc.jsonValue()), (value) => checkEvents(decodeWhole(JSON.stringify(value)))),
    { numRuns: 500 },
  );
});
