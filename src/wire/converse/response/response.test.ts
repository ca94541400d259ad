import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EventBatch } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeError } from './error.ts';
import { decodeWhole } from './response.ts';
import { decodeUsage } from './usage.ts';

function response(content: readonly JsonObject[], more: JsonObject = {}): string {
  return JSON.stringify({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', ...more });
}
function read(text: string): EventBatch {
  const events = decodeWhole(text);
  checkEvents(events);
  return events;
}

test('arguments of a call keep the numbers that the upstream wrote', () => {
  const text = response([{ toolUse: { toolUseId: 'a', name: 'f', input: { id: 0 } } }]).replace(
    '{"id":0}',
    '{"id":12345678901234567890,"ratio":1.0,"text":"é"}',
  );
  assert.deepEqual(foldEvents(read(text)).blocks, [
    {
      type: 'tool-call',
      id: 'a',
      name: 'f',
      input: '{"id":12345678901234567890,"ratio":1.0,"text":"é"}',
      runBy: 'caller',
    },
  ]);
});

test('pictures are media, tools of the provider are its own, and unknown blocks are passed on', () => {
  const result = { toolResult: { toolUseId: 'a', content: [{ text: 'found' }] } };
  const { blocks } = foldEvents(
    read(
      response([
        { image: { format: 'webp', source: { bytes: 'UklGRg==' } } },
        { toolUse: { toolUseId: 'a', name: 'search', input: {}, type: 'server_tool_use' } },
        result,
        { hologram: {} },
        { text: '' },
        { text: 'x' },
      ]),
    ),
  );
  assert.deepEqual(blocks, [
    { type: 'media', media: 'image', source: { type: 'base64', mediaType: 'image/webp', data: 'UklGRg==' } },
    { type: 'tool-call', id: 'a', name: 'search', input: '{}', runBy: 'upstream' },
    { type: 'opaque', format: 'converse', value: result },
    { type: 'opaque', format: 'converse', value: { hologram: {} } },
    { type: 'text', text: 'x' },
  ]);
});

test('why a response stopped', () => {
  const reasons: readonly (readonly [string, string])[] = [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['malformed_model_output', 'error'],
    ['malformed_tool_use', 'error'],
    ['something_new', 'stop'],
  ];
  for (const [stopReason, finish] of reasons) {
    const { end } = foldEvents(read(response([], { stopReason })));
    assert.deepEqual(end, { type: 'end', finish, nativeFinish: stopReason });
  }
  const fields = { additionalModelResponseFields: { stop_sequence: 'END' } };
  const { end } = foldEvents(read(response([], { stopReason: 'stop_sequence', ...fields })));
  assert.equal(end?.type === 'end' && end.stopSequence, 'END');
});

test('adds cached tokens to the prompt, and counts those written for an hour apart', () => {
  const usage: JsonObject = {
    inputTokens: 10,
    outputTokens: 7,
    totalTokens: 47,
    cacheReadInputTokens: 20,
    cacheReadInputTokenCount: 20,
    cacheWriteInputTokens: 10,
    cacheDetails: [
      { ttl: '1h', inputTokens: 6 },
      { ttl: '5m', inputTokens: 4 },
    ],
  };
  const expected = {
    promptTokens: 40,
    completionTokens: 7,
    cacheReadTokens: 20,
    cacheWriteTokens: 10,
    cacheWrite1hTokens: 6,
    estimated: false,
  };
  assert.deepEqual(decodeUsage(usage, undefined), expected);
  const { cacheReadInputTokens: _read, cacheWriteInputTokens: _write, ...others } = usage;
  assert.deepEqual(decodeUsage(others, 'flex'), { ...expected, serviceTier: 'flex' });
});

test('decodes any usage to whole counts that are not negative, and to parts within their whole', () => {
  const names = [
    'inputTokens',
    'outputTokens',
    'totalTokens',
    'cacheReadInputTokens',
    'cacheReadInputTokenCount',
    'cacheWriteInputTokens',
    'cacheWriteInputTokenCount',
  ];
  const count = fc.oneof(fc.nat(), fc.integer(), fc.double(), fc.string(), fc.constant(null));
  const details = fc.array(fc.record({ ttl: fc.constantFrom('1h', '5m', 7), inputTokens: count }));
  const usages = fc.record(
    { ...Object.fromEntries(names.map((name) => [name, count])), cacheDetails: fc.oneof(details, count) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(usages, (usage) => {
      const found = decodeUsage(usage, undefined);
      const counts = [found.promptTokens, found.completionTokens, found.cacheReadTokens, found.cacheWriteTokens];
      for (const value of [...counts, found.cacheWrite1hTokens]) assert.ok(Number.isSafeInteger(value) && value >= 0);
      assert.ok(found.cacheReadTokens + found.cacheWriteTokens <= found.promptTokens);
      assert.ok(found.cacheWrite1hTokens <= found.cacheWriteTokens);
    }),
  );
});

test('decodes the message of an error, whatever the case of its member', () => {
  const cases: readonly (readonly [string, JsonObject])[] = [
    ['{"message":"No."}', { message: 'No.' }],
    ['{"Message":"No."}', { message: 'No.' }],
    [
      '{"__type":"com.amazon.coral#ThrottlingException","message":"Slow"}',
      { message: 'Slow', type: 'ThrottlingException' },
    ],
    ['{"__type":"ValidationException:http://internal/","message":"x"}', { message: 'x', type: 'ValidationException' }],
    ['<html>Bad Gateway</html>', { message: '<html>Bad Gateway</html>' }],
    ['', {}],
    ['[]', { message: '[]' }],
  ];
  for (const [text, expected] of cases) assert.deepEqual(decodeError(text), expected);
  assert.ok((decodeError('x'.repeat(100_000)).message?.length ?? 0) < 10_000);
});

test('fails a response of status 200 that is an error or empty', () => {
  const failures: readonly (readonly [string, string, number | undefined])[] = [
    ['{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException"},"Version":"1.0"}', 'error-event', 404],
    ['{"message":"Too many","__type":"ThrottlingException"}', 'error-event', 429],
    ['{"message":"?"}', 'error-event', 500],
    ['{}', 'garbage', undefined],
    ['nothing', 'garbage', undefined],
    ['{"output":{"message":{"content":"text"}}}', 'garbage', undefined],
  ];
  for (const [text, kind, status] of failures) {
    const [event] = read(text);
    assert.ok(event?.type === 'failed', text);
    assert.deepEqual([event.failure.kind, event.failure.upstreamStatus], [kind, status], text);
  }
});

test('keeps the grammar for any response', () => {
  const blocks = fc.array(
    fc.oneof(
      fc.jsonValue(),
      fc.record({ text: fc.jsonValue() }),
      fc.record({ reasoningContent: fc.jsonValue() }),
      fc.record({ toolUse: fc.jsonValue() }),
      fc.record({ citationsContent: fc.record({ content: fc.jsonValue(), citations: fc.array(fc.jsonValue()) }) }),
    ),
  );
  fc.assert(
    fc.property(blocks, fc.jsonValue(), (content, other) => {
      read(JSON.stringify({ output: { message: { content } }, usage: other, stopReason: other, trace: other }));
      read(JSON.stringify({ output: other }));
      read(JSON.stringify(other));
    }),
  );
});
