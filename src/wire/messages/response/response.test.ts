import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GenerationResponse } from '../../../canonical/response.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { NO_USAGE } from '../../../canonical/usage.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity, FinalUsage } from '../../format.ts';
import { decodeWhole } from './response-in.ts';
import { encodeWhole } from './response-out.ts';

const IDENTITY: ResponseIdentity = { id: 'gen-1', createdS: 1, model: 'acme/one', provider: 'Acme' };
const FINAL_USAGE: FinalUsage = {
  usage: { ...NO_USAGE, estimated: false },
  charge: undefined,
  isByok: false,
  serviceMetadata: undefined,
};

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm-1',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'ZGF0YQ==' },
    { type: 'text', text: 'a', citations: null },
    { type: 'text', text: 'b', citations: [{ type: 'char_location', cited_text: 'b', document_index: 0 }] },
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { q: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 's1', caller: { type: 'direct' }, content: [] },
    { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 }, caller: { type: 'direct' } },
    { type: 'tool_use', id: 't2', name: 'g', input: {}, caller: { type: 'direct' } },
    { type: 'container_upload', file_id: 'file_1' },
    { type: 'compaction', content: 'short', encrypted_content: null },
    { type: 'kind_of_the_future', x: 1 },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  stop_details: null,
  container: null,
  context_management: { applied_edits: [] },
  usage: { input_tokens: 1, output_tokens: 2 },
};

function responseOf(message: unknown): GenerationResponse {
  return foldEvents(decodeWhole(typeof message === 'string' ? message : JSON.stringify(message)));
}

function encoded(response: GenerationResponse, finalUsage = FINAL_USAGE): JsonObject {
  return JSON.parse(encodeWhole(response, IDENTITY, finalUsage)) as JsonObject;
}

function chatResponse(parts: Partial<GenerationResponse>): GenerationResponse {
  return {
    format: 'chat',
    id: 'c',
    model: 'm',
    blocks: [],
    citations: [],
    usage: undefined,
    end: { type: 'end', finish: 'stop' },
    failure: undefined,
    extras: [],
    warnings: [],
    ...parts,
  };
}

// @spec messages-30
test('passes a response of this format with all its content, under our name', () => {
  const { usage: _usage, id, model, provider, ...rest } = encoded(responseOf(MESSAGE));
  const { usage: _sent, id: _id, model: _model, ...expected } = MESSAGE;
  assert.deepEqual([id, model, provider], ['gen-1', 'acme/one', 'Acme']);
  assert.deepEqual(rest, expected);
});

test('numbers in inputs stay as the upstream wrote them', () => {
  const text = JSON.stringify(MESSAGE)
    .replace('{"a":1}', '{"a":1.0,"id":12345678901234567890}')
    .replace('"x":1}', '"x":2.50}');
  const sent = encodeWhole(foldEvents(decodeWhole(text)), IDENTITY, FINAL_USAGE);
  assert.match(sent, /"input":\{"a":1\.0,"id":12345678901234567890\}/);
  assert.match(sent, /"x":2\.50\}/);
});

// @spec messages-26, messages-33
test('writes every member even when nothing is known', () => {
  const message = encoded(chatResponse({}));
  assert.deepEqual(message, {
    id: 'gen-1',
    type: 'message',
    role: 'assistant',
    model: 'acme/one',
    provider: 'Acme',
    content: [],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens_details: null,
      server_tool_use: null,
      inference_geo: null,
      service_tier: null,
      cost: null,
      cost_details: null,
      is_byok: false,
    },
  });
});

// @spec messages-30
test('encodes a chat response as far as the format can express it', () => {
  const { content, stop_reason: stopReason } = encoded(
    chatResponse({
      blocks: [
        { type: 'reasoning', form: 'text', text: 'hm' },
        { type: 'reasoning', form: 'text', text: '' },
        { type: 'text', text: '' },
        { type: 'text', text: 'a' },
        { type: 'media', media: 'image', source: { type: 'url', url: 'u' } },
        { type: 'tool-call', id: 'c1', name: 'f', input: '', runBy: 'caller' },
        { type: 'tool-call', id: 'c2', name: 'f', input: '{"cut', runBy: 'caller' },
      ],
      citations: [
        { citation: { type: 'url', url: 'https://e.com' }, afterBlocks: 5 },
        { citation: { type: 'url', url: 'https://late.com' }, afterBlocks: 6 },
      ],
      end: { type: 'end', finish: 'tool_calls' },
    }),
  );
  assert.deepEqual(content, [
    { type: 'thinking', thinking: 'hm', signature: '' },
    {
      type: 'text',
      text: 'a',
      citations: [
        { type: 'web_search_result_location', cited_text: '', url: 'https://e.com', title: null, encrypted_index: '' },
      ],
    },
    { type: 'tool_use', id: 'c1', name: 'f', input: {}, caller: { type: 'direct' } },
    { type: 'tool_use', id: 'c2', name: 'f', input: { _raw: '{"cut' }, caller: { type: 'direct' } },
    {
      type: 'text',
      text: '',
      citations: [
        {
          type: 'web_search_result_location',
          cited_text: '',
          url: 'https://late.com',
          title: null,
          encrypted_index: '',
        },
      ],
    },
  ]);
  assert.equal(stopReason, 'tool_use');
});

// @spec messages-32, translate-28
test('usage counts the cache apart, never below zero, and tells tier and cost', () => {
  const usage = {
    ...NO_USAGE,
    promptTokens: 100,
    completionTokens: 9,
    cacheReadTokens: 60,
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 10,
    serviceTier: 'default',
    webSearchRequests: 2,
    estimated: false,
  };
  const charge = { totalNanoUsd: 0, promptNanoUsd: 1_000, completionNanoUsd: 2_000 };
  const full = encoded(chatResponse({}), { ...FINAL_USAGE, usage, charge, isByok: true })['usage'] as JsonObject;
  assert.deepEqual(full, {
    input_tokens: 10,
    output_tokens: 9,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 60,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
    output_tokens_details: null,
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
    inference_geo: null,
    service_tier: 'standard',
    cost: 0,
    cost_details: {
      upstream_inference_cost: 0.000003,
      upstream_inference_prompt_cost: 0.000001,
      upstream_inference_completions_cost: 0.000002,
    },
    is_byok: true,
  });
  const wrong = encoded(chatResponse({}), { ...FINAL_USAGE, usage: { ...usage, promptTokens: 5 } })[
    'usage'
  ] as JsonObject;
  assert.equal(wrong['input_tokens'], 0);
});

test("the vendor's usage is read and written back without loss", () => {
  const usage = {
    input_tokens: 4,
    output_tokens: 9,
    cache_creation_input_tokens: 30,
    cache_read_input_tokens: 60,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
    output_tokens_details: { thinking_tokens: 3 },
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
    inference_geo: 'eu',
    service_tier: 'priority',
    speed: 'fast',
    iterations: [{ type: 'message' }],
  };
  const response = responseOf({ ...MESSAGE, usage });
  assert.ok(response.usage);
  const {
    cost: _cost,
    cost_details: _details,
    is_byok: _byok,
    ...sent
  } = encoded(response, { ...FINAL_USAGE, usage: response.usage })['usage'] as JsonObject;
  assert.deepEqual(sent, usage);
});

// @spec messages-29
test('keeps the details of a refusal', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'no' };
  const response = responseOf({ ...MESSAGE, content: [], stop_reason: 'refusal', stop_details: details });
  assert.deepEqual(response.blocks, [{ type: 'refusal', text: 'no' }]);
  const { content, stop_reason: stopReason, stop_details: stopDetails } = encoded(response);
  assert.deepEqual([content, stopReason, stopDetails], [[], 'refusal', details]);
});

test("encodes a changed end in place of the upstream's own word", () => {
  const response = responseOf(MESSAGE);
  assert.equal(
    encoded({ ...response, end: { type: 'end', finish: 'length', nativeFinish: 'tool_use' } })['stop_reason'],
    'max_tokens',
  );
});

test('encodes a response that broke off with its error', () => {
  const broken = chatResponse({
    blocks: [{ type: 'text', text: 'partial' }],
    end: undefined,
    failure: {
      kind: 'reset',
      errorType: 'provider_unavailable',
      status: 502,
      message: 'It broke.',
      mayTry: 'next-endpoint',
    },
  });
  const message = encoded(broken);
  assert.equal(message['stop_reason'], null);
  assert.deepEqual(message['content'], [{ type: 'text', text: 'partial', citations: null }]);
  assert.deepEqual(message['error'], {
    type: 'api_error',
    message: 'It broke.',
    code: 502,
    error_type: 'provider_unavailable',
  });
});

test('writes no stop reason for a response that its upstream ended with an error', () => {
  const message = encoded(chatResponse({ end: { type: 'end', finish: 'error' } }));
  assert.equal(message['stop_reason'], null);
  assert.equal((message['error'] as JsonObject)['code'], 502);
});

test("another gateway's own members are not passed off as ours", () => {
  const response = responseOf({
    ...MESSAGE,
    provider: 'Other',
    service_metadata: { attempt: 9 },
    usage: { input_tokens: 1, output_tokens: 1, cost: 5 },
  });
  assert.ok(response.usage);
  const message = encoded(response, { ...FINAL_USAGE, usage: response.usage, serviceMetadata: { attempt: 1 } });
  assert.equal(message['provider'], 'Acme');
  assert.deepEqual(message['service_metadata'], { attempt: 1 });
  assert.equal((message['usage'] as JsonObject)['cost'], null);
});

for (const [what, text, kind] of [
  ['no JSON', '<html>', 'garbage'],
  ['no object', '[]', 'garbage'],
  ['no content', '{"type":"message"}', 'garbage'],
  ['an error object', '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}', 'error-event'],
  ['a bare error', '{"error":{"message":"busy","code":429}}', 'error-event'],
] as const) {
  test(`fails a response of status 200 that is ${what}`, () => {
    const { failure } = responseOf(text);
    assert.equal(failure?.kind, kind);
  });
}
