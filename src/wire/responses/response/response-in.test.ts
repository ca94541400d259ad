import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { decodeWhole } from './response-in.ts';
import {
  added,
  call,
  callsOf,
  completed,
  CREATED,
  decodeStream,
  done,
  DRAWS_AND_REFUSES,
  foldStream,
  message,
  outputText,
  response,
  SEARCHES_AND_CITES,
  stream,
  summaries,
  THINKS_AND_CALLS,
  WHOLE_DRAWS_AND_REFUSES,
  WHOLE_SEARCHES_AND_CITES,
  WHOLE_THINKS_AND_CALLS,
} from '../../../../tests/support/wire/responses/streams.ts';

function foldWhole(answer: JsonObject) {
  const events = decodeWhole(JSON.stringify(answer));
  checkEvents(events);
  return foldEvents(events);
}

for (const [name, whole, events] of [
  ['thinking and calls', WHOLE_THINKS_AND_CALLS, THINKS_AND_CALLS],
  ['a search and what it found', WHOLE_SEARCHES_AND_CITES, SEARCHES_AND_CITES],
  ['a picture and a refusal', WHOLE_DRAWS_AND_REFUSES, DRAWS_AND_REFUSES],
] as const) {
  test(`decodes a whole response like its stream: ${name}`, () => {
    assert.deepEqual(foldWhole(whole), foldStream(events));
  });
}

test('gives reasoning the family of the vendor, whatever the host', () => {
  const whole = JSON.stringify(response([summaries('rs', ['Hm.'])]));
  const [block] = foldEvents(decodeWhole(whole, { reasoningFamily: 'azure-openai-responses-v1' })).blocks;
  assert.ok(block?.type === 'reasoning');
  assert.equal(block.family, 'azure-openai-responses-v1');
});

test('text as one string is a text', () => {
  const [block] = foldWhole(response([{ type: 'message', id: 'm', content: 'Hi.' }])).blocks;
  assert.deepEqual(block, { type: 'text', text: 'Hi.' });
});

test('arguments as an object keep their numbers as written', () => {
  const text = '{"output":[{"type":"function_call","call_id":"a","name":"f","arguments":{"id":98765432109876543210}}]}';
  assert.deepEqual(callsOf(foldEvents(decodeWhole(text))), ['a f({"id":98765432109876543210})']);
});

test('fails with its status on an error object in place of a response', () => {
  const error = { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' };
  const events = decodeWhole(JSON.stringify({ error }));
  assert.equal(events.length, 1);
  const { failure } = foldEvents(events);
  assert.deepEqual([failure?.kind, failure?.status], ['error-event', 429]);
});

for (const text of ['', 'null', '[]', '{}', '{"id":"x"}', '<html>', '{"output":', '{"output":{}}']) {
  test(`${JSON.stringify(text)} is garbage`, () => {
    assert.equal(foldEvents(decodeWhole(text)).failure?.kind, 'garbage');
  });
}

/** The pieces of a text, so that none is empty. */
function piecesOf(text: string, size: number): readonly string[] {
  const points = Array.from(text);
  return Array.from({ length: Math.ceil(points.length / size) }, (_, at) =>
    points.slice(at * size, (at + 1) * size).join(''),
  );
}

/** An item as it comes in a stream: opened, in pieces, and once more when it is done. */
function encodeItem(item: JsonObject, output_index: number, size: number): readonly JsonObject[] {
  const pieces = (type: string, text: unknown, more: JsonObject): readonly JsonObject[] =>
    piecesOf(textOf(text) ?? '', size).map((delta) => ({ type: `${type}.delta`, output_index, delta, ...more }));
  const inner = [
    ...objectsOf(item['summary']).flatMap(({ text }, summary_index) =>
      pieces('response.reasoning_summary_text', text, { summary_index }),
    ),
    ...objectsOf(item['content']).flatMap(({ type, text, refusal }, content_index) =>
      type === 'refusal'
        ? pieces('response.refusal', refusal, { content_index })
        : pieces('response.output_text', text, { content_index }),
    ),
    ...pieces('response.function_call_arguments', item['arguments'], {}),
    ...pieces('response.custom_tool_call_input', item['input'], {}),
  ];
  const { id, type, call_id: callId, name } = item;
  return [added(output_index, { id, type, call_id: callId, name }), ...inner, done(output_index, item)];
}

test('decodes any response alike whole and in pieces of any size', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  const part = fc.oneof(
    text.map((each) => outputText(each)),
    text.map((refusal) => ({ type: 'refusal', refusal })),
  );
  const wellFormed = fc.oneof(
    fc.array(part, { maxLength: 3 }).map((parts) => message('m', ...parts)),
    fc
      .tuple(fc.array(text, { maxLength: 3 }), fc.option(text, { nil: undefined }))
      .map(([texts, sealed]) => summaries('rs', texts, sealed)),
    fc.jsonValue().map((value) => call('a', 'f', JSON.stringify(value))),
    text.map((input) => ({ type: 'custom_tool_call', id: 'c', call_id: 'c', name: 'g', input })),
    fc.constant({ type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: 'x' } }),
  );
  fc.assert(
    fc.property(fc.array(wellFormed, { maxLength: 6 }), fc.integer({ min: 1, max: 9 }), (items, size) => {
      const output = items.map((each, at) => ({ ...each, id: `${textOf(each['id']) ?? ''}_${at}` }));
      const events = output.flatMap((each, at) => encodeItem(each, at, size));
      assert.deepEqual(foldStream([CREATED, ...events, completed(output)]), foldWhole(response(output)));
    }),
    { numRuns: 500 },
  );
});

/** Items of all kinds, well formed and not. */
const item = fc.oneof(
  fc.constantFrom(
    message('m', outputText('Hi.'), { type: 'refusal', refusal: 'No.' }),
    summaries('rs', ['One.', 'Two.'], 'sealed'),
    call('a', 'f', '{}'),
    { type: 'custom_tool_call', call_id: 'c', name: 'g', input: 'x' },
    { type: 'web_search_call', id: 'ws' },
    { type: 'image_generation_call', id: 'ig', result: 'eA==' },
    { type: 'mcp_list_tools', id: 'l' },
  ),
  fc.record(
    {
      type: fc.constantFrom(
        'message',
        'reasoning',
        'function_call',
        'code_interpreter_call',
        'image_generation_call',
        'x',
      ),
      id: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue()),
      content: fc.jsonValue(),
      summary: fc.jsonValue(),
      encrypted_content: fc.jsonValue(),
      name: fc.jsonValue(),
      arguments: fc.jsonValue(),
      code: fc.jsonValue(),
      result: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  ),
  fc.jsonValue(),
);

test('whatever stands in a whole response gives events of the grammar and never throws', () => {
  const answer = fc.record(
    {
      output: fc.oneof(fc.array(item), fc.jsonValue()),
      status: fc.jsonValue(),
      usage: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: ['output'] },
  );
  fc.assert(
    fc.property(fc.oneof(answer, fc.jsonValue()), (value) => checkEvents(decodeWhole(JSON.stringify(value)))),
    { numRuns: 500 },
  );
});

test('whatever stands in a stream gives events of the grammar and never throws', () => {
  const place = fc.oneof(fc.nat(3), fc.jsonValue());
  const event = fc.record(
    {
      type: fc.oneof(
        fc.constantFrom(
          'response.created',
          'response.output_item.added',
          'response.output_item.done',
          'response.content_part.done',
          'response.output_text.delta',
          'response.output_text.done',
          'response.output_text.annotation.added',
          'response.refusal.delta',
          'response.reasoning_text.delta',
          'response.reasoning_summary_text.delta',
          'response.reasoning_summary_text.done',
          'response.function_call_arguments.delta',
          'response.code_interpreter_call_code.delta',
          'response.custom_tool_call_input.done',
        ),
        fc.jsonValue(),
      ),
      output_index: place,
      content_index: place,
      summary_index: place,
      item_id: fc.constantFrom('a', 'b', 7),
      item,
      part: fc.oneof(fc.constant(outputText('Hi.')), fc.jsonValue()),
      annotation: fc.jsonValue(),
      delta: fc.oneof(fc.constant('x'), fc.jsonValue()),
      text: fc.oneof(fc.constant('xx'), fc.jsonValue()),
      logprobs: fc.jsonValue(),
      response: fc.oneof(fc.record({ output: fc.array(item) }), fc.jsonValue()),
    },
    { requiredKeys: ['type'] },
  );
  const end = fc.constantFrom('response.completed', 'response.incomplete', 'response.failed', 'error', 'nothing');
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), end, fc.array(item), (events, type, output) => {
      const last = { type, response: { output } };
      const read: JsonObject[] = [...events, last].map((each) => JSON.parse(JSON.stringify(each)));
      decodeStream(stream(read));
    }),
    { numRuns: 1_000 },
  );
});

test('whatever the bytes are, they give events of the grammar', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(`data: ${text}\n\n`)),
  );
  fc.assert(fc.property(bytes, (garbage) => void decodeStream(garbage)));
});
