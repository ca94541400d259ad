import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { GenerationEvent } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { encodeRequest } from './request-out.ts';
import { ChatStreamEncoder } from '../response/stream-out.ts';
import { encodeWhole } from '../response/response-out.ts';
import { decodeChat, decodeChatText, PLAIN_TARGET } from '../../../../tests/support/wire/chat/request.ts';
import { FINAL_USAGE, deltasOf, IDENTITY, readStream } from '../../../../tests/support/wire/chat/streams.ts';

const USER = { role: 'user', content: 'hi' };
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const WEATHER = { name: 'get_weather', description: 'The weather', parameters: SCHEMA };
const CALL = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
const CALLED = { role: 'assistant', content: null, function_call: CALL };
const RESULT = { role: 'function', name: 'get_weather', content: '4 degrees' };
const LEGACY = { ...IDENTITY, legacyCalls: true } as const;

function upstreamBody(members: JsonObject): JsonObject {
  return encodeRequest(decodeChat({ messages: [USER], ...members }), PLAIN_TARGET).body;
}

function refused(members: JsonObject): readonly (string | undefined)[] {
  try {
    decodeChat({ messages: [USER], ...members });
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.status, 400);
    return [error.issues?.[0]?.path, error.message];
  }
  return assert.fail('the request was accepted');
}

function called(id: string, name: string, index: number, ...inputs: readonly string[]): readonly GenerationEvent[] {
  return [
    { type: 'block-start', index, block: { type: 'tool-call', id, name, input: '', runBy: 'caller' } },
    ...inputs.map((text): GenerationEvent => ({ type: 'block-delta', index, text })),
    { type: 'block-end', index },
  ];
}

const START: GenerationEvent = { type: 'start', format: 'messages' };
const END: GenerationEvent = { type: 'end', finish: 'tool_calls', nativeFinish: 'tool_use' };

suite('chat request with functions', () => {
  // @spec chat-28
  test('sends functions as tools, one call at a time', () => {
    const body = upstreamBody({
      functions: [{ ...WEATHER, strict: true, later: 1 }, { name: 'ping' }],
      parallel_tool_calls: true,
    });
    assert.deepEqual(body['tools'], [
      { type: 'function', function: { ...WEATHER, strict: true, later: 1 } },
      { type: 'function', function: { name: 'ping' } },
    ]);
    assert.equal(body['parallel_tool_calls'], false);
    assert.equal('functions' in body, false);
    assert.equal('tool_choice' in body, false);
  });

  for (const [choice, sent] of [
    ['none', 'none'],
    ['auto', 'auto'],
    [{ name: 'get_weather' }, { type: 'function', function: { name: 'get_weather' } }],
    [null, undefined],
  ] as const satisfies readonly (readonly [Json, Json | undefined])[])
    test(`sends function_call ${JSON.stringify(choice)} as tool choice`, () => {
      const body = upstreamBody({ functions: [WEATHER], function_call: choice });
      assert.deepEqual(body['tool_choice'], sent);
      assert.equal('function_call' in body, false);
    });

  test('sends neither tools nor options of tools for an empty list', () => {
    const body = upstreamBody({ functions: [], function_call: 'none' });
    assert.deepEqual(Object.keys(body).toSorted(), ['messages', 'model']);
  });

  test('keeps long numbers of a schema', () => {
    const text = `{"messages":[{"role":"user","content":"hi"}],"functions":[{"name":"f","parameters":{"maximum":12345678901234567890}}]}`;
    assert.match(JSON.stringify(encodeRequest(decodeChatText(text), PLAIN_TARGET).body), /12345678901234567890/);
  });

  test('sends calls and their results as those of tools, with ids that do not change', () => {
    const messages = [USER, CALLED, RESULT, { ...CALLED, content: 'Again.' }, { ...RESULT, content: null }];
    const sent = upstreamBody({ messages, functions: [WEATHER] })['messages'];
    assert.deepEqual(sent, [
      USER,
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_function_1', type: 'function', function: CALL }] },
      { role: 'tool', tool_call_id: 'call_function_1', content: '4 degrees' },
      {
        role: 'assistant',
        content: 'Again.',
        tool_calls: [{ id: 'call_function_2', type: 'function', function: CALL }],
      },
      { role: 'tool', tool_call_id: 'call_function_2', content: '' },
    ]);
    assert.deepEqual(upstreamBody({ messages: messages.slice(0, 3) })['messages'], (sent as Json[]).slice(0, 3));
  });

  test('pairs a result with the oldest call of its name that has none', () => {
    const other = { role: 'assistant', content: null, function_call: { name: 'ping', arguments: '' } };
    const messages = [USER, CALLED, other, { role: 'function', name: 'ping', content: 'pong' }, RESULT];
    const results = objectsOf(upstreamBody({ messages })['messages']).filter(({ role }) => role === 'tool');
    assert.deepEqual(
      results.map((message) => [message['tool_call_id'], message['content']]),
      [
        ['call_function_2', 'pong'],
        ['call_function_1', '4 degrees'],
      ],
    );
  });

  test('takes null in the place of every older member, as clients send answers back', () => {
    const messages = [USER, { role: 'assistant', content: 'Hello', function_call: null }, USER];
    const body = upstreamBody({ messages, functions: null, function_call: null });
    assert.deepEqual(body['messages'], [USER, { role: 'assistant', content: 'Hello' }, USER]);
  });

  const TOOL = { type: 'function', function: WEATHER };
  const TOOL_CALL = { id: 'a', type: 'function', function: CALL };
  const refusals: readonly (readonly [members: JsonObject, path: string, words?: RegExp])[] = [
    [{ functions: [WEATHER], tools: [TOOL] }, 'functions', /functions.*tools/],
    [{ functions: [WEATHER], tool_choice: 'auto' }, 'tool_choice', /function_call/],
    [{ function_call: 'auto' }, 'function_call', /needs functions/],
    [{ function_call: 'auto', tools: [TOOL] }, 'function_call', /tool_choice/],
    [{ functions: [WEATHER], function_call: 'required' }, 'function_call'],
    [{ functions: [WEATHER], function_call: { name: 'other' } }, 'function_call.name', /functions/],
    [{ functions: [WEATHER], function_call: {} }, 'function_call.name'],
    [{ functions: {} }, 'functions'],
    [{ functions: [{}] }, 'functions[0].name'],
    [{ functions: [WEATHER, { name: 'a b' }] }, 'functions[1].name'],
    [{ functions: [WEATHER, WEATHER] }, 'functions[1].name'],
    [{ functions: [{ name: 'f', parameters: 'x' }] }, 'functions[0].parameters'],
    [{ messages: [USER, { ...CALLED, function_call: { name: 'f' } }] }, 'messages[1].function_call.arguments'],
    [{ messages: [USER, { ...CALLED, tool_calls: [TOOL_CALL] }] }, 'messages[1].function_call', /tool_calls/],
    [{ messages: [USER, RESULT] }, 'messages[1].name', /no earlier function_call/],
    [{ messages: [USER, CALLED, RESULT, RESULT] }, 'messages[3].name', /no earlier function_call/],
    [{ messages: [USER, CALLED, { role: 'function', content: 'x' }] }, 'messages[2].name'],
    [{ messages: [USER, CALLED, { role: 'function', name: 'get_weather' }] }, 'messages[2].content'],
  ];
  for (const [members, path, words = /./] of refusals)
    test(`refuses ${JSON.stringify(members).slice(0, 90)} at ${path}`, () => {
      const [where, message] = refused(members);
      assert.equal(where, path);
      assert.match(message ?? '', words);
    });
});

suite('chat response to a caller of functions', () => {
  const events = [START, ...called('a', 'f', 0, '{"x":', '1}'), ...called('b', 'g', 1, '{}'), END];

  // @spec chat-28
  test('has the first call alone as function_call of a whole response', () => {
    const body = parseJsonObject(encodeWhole(foldEvents(events), LEGACY, FINAL_USAGE)) ?? {};
    const [choice] = objectsOf(body['choices']);
    assert.equal(choice?.['finish_reason'], 'function_call');
    assert.equal(choice['native_finish_reason'], 'tool_use');
    assert.deepEqual(objectOf(choice['message']), {
      role: 'assistant',
      content: null,
      refusal: null,
      function_call: { name: 'f', arguments: '{"x":1}' },
    });
  });

  test('has the first call alone as pieces of function_call in a stream', () => {
    const encoder = new ChatStreamEncoder(LEGACY);
    const chunks = readStream(encoder.encode(events) + encoder.close(FINAL_USAGE));
    assert.deepEqual(
      deltasOf(chunks).flatMap((delta) => objectOf(delta['function_call']) ?? []),
      [{ name: 'f', arguments: '' }, { arguments: '{"x":' }, { arguments: '1}' }],
    );
    assert.ok(deltasOf(chunks).every((delta) => !('tool_calls' in delta)));
    assert.deepEqual(
      chunks.flatMap(({ choices }) => objectsOf(choices)[0]?.['finish_reason'] ?? []),
      ['function_call'],
    );
  });

  test('has the empty object where a call got no arguments', () => {
    const bare = [START, ...called('a', 'f', 0), END];
    const encoder = new ChatStreamEncoder(LEGACY);
    const deltas = deltasOf(readStream(encoder.encode(bare) + encoder.close(FINAL_USAGE)));
    assert.equal(deltas.map((delta) => textOf(objectOf(delta['function_call'])?.['arguments']) ?? '').join(''), '{}');
    assert.match(encodeWhole(foldEvents(bare), LEGACY, FINAL_USAGE), /"function_call":{"name":"f","arguments":"{}"}/);
  });

  test('keeps every other reason to stop', () => {
    const ended = foldEvents([START, { type: 'end', finish: 'length' }]);
    assert.match(encodeWhole(ended, LEGACY, FINAL_USAGE), /"finish_reason":"length"/);
    assert.match(encodeWhole(foldEvents([START]), LEGACY, FINAL_USAGE), /"finish_reason":null/);
  });
});
