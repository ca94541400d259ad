import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Block } from '../../../canonical/blocks.ts';
import type { BlockDeltaEvent, EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { NO_USAGE } from '../../../canonical/usage.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ResponseIdentity, FinalUsage } from '../../format.ts';
import { encodeWhole } from './response-out.ts';
import { clientFormat } from '../../../../tests/support/wire/messages/request.ts';
import { textOf } from '../../json-fields.ts';
import { frames, readBytes } from '../../../../tests/support/wire/messages/streams.ts';
import {
  checkStream,
  foldContent,
  readFrames,
  type SeenEvent,
} from '../../../../tests/support/wire/messages/stream-checker.ts';

const IDENTITY: ResponseIdentity = { id: 'gen-1', createdS: 1_760_000_000, model: 'acme/one', provider: 'Acme' };
const FINAL_USAGE: FinalUsage = {
  usage: { ...NO_USAGE, promptTokens: 20, completionTokens: 9, reasoningTokens: 3, estimated: false },
  charge: { totalNanoUsd: 120_000, promptNanoUsd: 40_000, completionNanoUsd: 80_000 },
  isByok: false,
  serviceMetadata: undefined,
};
const CONTEXT = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://localhost:8787/v1' };

const CHAT_START: GenerationEvent = { type: 'start', format: 'chat' };

function start(index: number, block: Block): GenerationEvent {
  return { type: 'block-start', index, block };
}
function delta(index: number, text: string): BlockDeltaEvent {
  return { type: 'block-delta', index, text };
}
function signature(index: number, value: string): BlockDeltaEvent {
  return { type: 'block-delta', index, signature: value };
}
function end(index: number): GenerationEvent {
  return { type: 'block-end', index };
}
function call(id: string): Block {
  return { type: 'tool-call', id, name: `tool_${id}`, input: '', runBy: 'caller' };
}
const TEXT: Block = { type: 'text', text: '' };
const REASONING: Block = { type: 'reasoning', form: 'text', text: '', family: 'unknown' };

/** The stream of these events, each in a batch of its own, checked and closed. */
function encodeAll(events: EventBatch, finalUsage: FinalUsage = FINAL_USAGE): readonly SeenEvent[] {
  return checkStream(encodeText(events, finalUsage));
}

function encodeText(events: EventBatch, finalUsage: FinalUsage = FINAL_USAGE): string {
  const encoder = clientFormat.createStreamEncoder(IDENTITY);
  return events.map((event) => encoder.encode([event])).join('') + encoder.close(finalUsage);
}

/** Starts, deltas and stops in one line. */
function outline(events: readonly SeenEvent[]): string {
  return events
    .filter(({ name }) => name.startsWith('content_block'))
    .map(({ name, data }) => {
      const step = `${name.slice('content_block_'.length)}${JSON.stringify(data['index'])}`;
      if (name !== 'content_block_delta') return step;
      const { type: _type, ...part } = data['delta'] as JsonObject;
      return `${step}:${Object.values(part).map(textOf).join()}`;
    })
    .join(' ');
}

function named(events: readonly SeenEvent[], name: string): JsonObject {
  const found = events.find((event) => event.name === name);
  assert.ok(found, `there is a ${name}`);
  return found.data;
}

// @spec stream-22, stream-23, stream-25, stream-26
test('encodes a chat response to exactly the stream of the specification', () => {
  const stream = encodeText([
    CHAT_START,
    start(0, REASONING),
    delta(0, 'hm'),
    end(0),
    start(1, call('1')),
    delta(1, '{"a":1}'),
    end(1),
    { type: 'end', finish: 'tool_calls', nativeFinish: 'tool_calls' },
  ]);
  const expected = [
    {
      type: 'message_start',
      message: {
        id: 'gen-1',
        type: 'message',
        role: 'assistant',
        model: 'acme/one',
        provider: 'Acme',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: {
          input_tokens: 0,
          output_tokens: 0,
          cache_creation_input_tokens: null,
          cache_read_input_tokens: null,
          cache_creation: null,
          output_tokens_details: null,
          server_tool_use: null,
          inference_geo: null,
          service_tier: null,
        },
      },
    },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: '' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: '1', name: 'tool_1', input: {}, caller: { type: 'direct' } },
    },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 20,
        output_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens_details: { thinking_tokens: 3 },
        server_tool_use: null,
        cost: 0.00012,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_prompt_cost: 0.00004,
          upstream_inference_completions_cost: 0.00008,
        },
        is_byok: false,
      },
    },
    { type: 'message_stop' },
  ];
  assert.equal(stream, frames(expected));
});

// @spec stream-3
test('nothing is written before there is content, so that another provider may still answer', () => {
  const encoder = clientFormat.createStreamEncoder(IDENTITY);
  assert.equal(encoder.encode([CHAT_START, { type: 'usage', usage: FINAL_USAGE.usage }, start(0, TEXT)]), '');
  assert.equal(encoder.debug('Acme', {}), '');
  const message = named(readFrames(encoder.encode([delta(0, 'a')])), 'message_start')['message'] as JsonObject;
  assert.equal((message['usage'] as JsonObject)['input_tokens'], 20);
});

// @spec stream-24
test('writes interleaved calls one after the other: the later one waits until the earlier has ended', () => {
  const events = encodeAll([
    CHAT_START,
    start(0, call('a')),
    start(1, call('b')),
    delta(0, '{"n"'),
    delta(1, '{"m"'),
    delta(0, ':0}'),
    delta(1, ':1}'),
    end(0),
    end(1),
    { type: 'end', finish: 'tool_calls' },
  ]);
  assert.equal(outline(events), 'start0 delta0:{"n" delta0::0} stop0 start1 delta1:{"m" delta1::1} stop1');
  assert.deepEqual(
    foldContent(events).map(({ id, input }) => [id, input]),
    [
      ['a', { n: 0 }],
      ['b', { m: 1 }],
    ],
  );
});

test('calls one after the other stream, although chat ends them all together', () => {
  const encoder = clientFormat.createStreamEncoder(IDENTITY);
  encoder.encode([CHAT_START, start(0, call('a')), delta(0, '{"n":0}')]);
  const second = readFrames(encoder.encode([start(1, call('b')), delta(1, '{"m"')]));
  assert.equal(outline(second), 'stop0 start1 delta1:{"m"');
});

test('does not hold a call back behind one without arguments', () => {
  const events = encodeAll([CHAT_START, start(0, call('a')), start(1, call('b')), delta(1, '{}'), end(0), end(1)]);
  assert.deepEqual(
    foldContent(events).map(({ input }) => input),
    [{}, {}],
  );
});

test('ends a call that is never ended with the response', () => {
  const events = encodeAll([CHAT_START, start(0, call('a')), delta(0, '{"n"'), start(1, call('b')), delta(1, '{}')]);
  assert.equal(outline(events), 'start0 delta0:{"n" stop0 start1 delta1:{} stop1');
});

test('thousands of waiting calls do not exhaust the stack', () => {
  const calls = Array.from({ length: 5_000 }, (_, index) => index + 1);
  const events = encodeAll([
    CHAT_START,
    start(0, call('first')),
    ...calls.flatMap((index) => [start(index, call(`c${index}`)), delta(index, '{}'), end(index)]),
    end(0),
  ]);
  assert.equal(events.filter(({ name }) => name === 'content_block_stop').length, 5_001);
});

test('empty text and empty reasoning open no block', () => {
  const events = encodeAll([
    CHAT_START,
    start(0, REASONING),
    delta(0, ''),
    end(0),
    start(1, TEXT),
    delta(1, ''),
    end(1),
  ]);
  assert.equal(outline(events), '');
});

// @spec stream-25
test('reasoning keeps its seal: signed, encrypted, summarised', () => {
  const events = encodeAll([
    CHAT_START,
    start(0, { type: 'reasoning', form: 'text', text: '', family: 'anthropic-claude-v1' }),
    signature(0, 'c2'),
    delta(0, 'hm'),
    signature(0, 'ln'),
    end(0),
    start(1, { type: 'reasoning', form: 'encrypted', text: 'ZG', family: 'google-gemini-v1' }),
    delta(1, 'F0YQ=='),
    end(1),
    start(2, { type: 'reasoning', form: 'summary', text: 'short' }),
    end(2),
    start(3, { type: 'reasoning', form: 'text', text: '', signature: 'omitted' }),
    end(3),
  ]);
  assert.deepEqual(foldContent(events), [
    { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'sealed-v1:google-gemini-v1:encrypted::ZGF0YQ==' },
    { type: 'thinking', thinking: 'short', signature: '' },
    { type: 'thinking', thinking: '', signature: 'omitted' },
  ]);
});

test('encrypted reasoning behind a text is written before what follows it, and not at all as the last block', () => {
  const sealed = (index: number): readonly GenerationEvent[] => [
    start(index, { type: 'reasoning', form: 'encrypted', text: 'ZGF0YQ==', family: 'google-gemini-v1' }),
    end(index),
  ];
  const text = (index: number): readonly GenerationEvent[] => [start(index, TEXT), delta(index, 'so'), end(index)];
  const types = (...events: readonly (readonly GenerationEvent[])[]): readonly unknown[] =>
    foldContent(encodeAll([CHAT_START, ...events.flat()])).map(({ type }) => type);
  assert.deepEqual(types(text(0), sealed(1), text(2)), ['text', 'redacted_thinking', 'text']);
  assert.deepEqual(types(text(0), sealed(1), sealed(2)), ['text']);
  assert.deepEqual(types(sealed(0), text(1)), ['redacted_thinking', 'text']);
  assert.deepEqual(types(text(0), sealed(1), [start(2, call('c')), delta(2, '{}'), end(2)]), [
    'text',
    'redacted_thinking',
    'tool_use',
  ]);
});

const LATE = {
  type: 'web_search_result_location',
  cited_text: '',
  url: 'https://late.com',
  title: null,
  encrypted_index: '',
};

test('sources of a chat response stand in its text, also those that come after it', () => {
  const events = encodeAll([
    CHAT_START,
    start(0, TEXT),
    delta(0, 'see'),
    { type: 'citation', index: -1, citation: { type: 'url', url: 'https://e.com', title: 'E', excerpt: 'ex' } },
    { type: 'citation', index: 0, citation: { type: 'opaque', format: 'chat', value: {} } },
    end(0),
    { type: 'citation', index: -1, citation: { type: 'url', url: 'https://late.com' } },
  ]);
  assert.deepEqual(foldContent(events), [
    {
      type: 'text',
      text: 'see',
      citations: [
        { type: 'web_search_result_location', cited_text: 'ex', url: 'https://e.com', title: 'E', encrypted_index: '' },
        LATE,
      ],
    },
  ]);
});

test('sources that come when something else stands behind their text get a block without words', () => {
  const late = { type: 'citation', citation: { type: 'url', url: 'https://late.com' } } as const;
  const events = encodeAll([
    CHAT_START,
    start(0, TEXT),
    delta(0, 'see'),
    end(0),
    start(1, call('x')),
    delta(1, '{}'),
    { ...late, index: -1 },
    end(1),
    { ...late, index: -1 },
  ]);
  const [text, , sources] = foldContent(events);
  assert.deepEqual(text, { type: 'text', text: 'see', citations: null });
  assert.deepEqual(sources, { type: 'text', text: '', citations: [LATE, LATE] });
});

// @spec messages-29
test('encodes a refusal with a message as text, and as the stop reason', () => {
  const events = encodeAll([
    CHAT_START,
    start(0, { type: 'refusal', text: '' }),
    delta(0, 'I '),
    delta(0, "can't"),
    end(0),
    { type: 'end', finish: 'stop' },
  ]);
  assert.deepEqual(foldContent(events), [{ type: 'text', text: "I can't", citations: null }]);
  assert.deepEqual(named(events, 'message_delta')['delta'], {
    stop_reason: 'refusal',
    stop_sequence: null,
    stop_details: { type: 'refusal', category: null, explanation: "I can't" },
    container: null,
  });
});

// @spec messages-34
test('leaves no gap for a block that the format cannot express', () => {
  const image: Block = { type: 'media', media: 'image', source: { type: 'url', url: 'https://e.com/a.png' } };
  const events = encodeAll([
    CHAT_START,
    start(0, image),
    end(0),
    start(1, { type: 'opaque', format: 'chat', value: { type: 'x' } }),
    { type: 'block-delta', index: 1, value: { type: 'x_delta' } },
    end(1),
    start(2, TEXT),
    delta(2, 'a'),
    end(2),
  ]);
  assert.equal(outline(events), 'start0 delta0:a stop0');
});

/** @spec messages-27 */
for (const [finish, stopReason] of [
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['content_filter', 'refusal'],
] as const) {
  // @spec messages-27, translate-25
  test(`encodes the end ${finish} of a chat upstream as ${stopReason}`, () => {
    const events = encodeAll([
      CHAT_START,
      start(0, TEXT),
      delta(0, 'a'),
      end(0),
      { type: 'end', finish, nativeFinish: 'whatever' },
    ]);
    assert.equal((named(events, 'message_delta')['delta'] as JsonObject)['stop_reason'], stopReason);
  });
}

test('encodes a forced call that a chat upstream ends with "stop" as tool_use', () => {
  const events = encodeAll([CHAT_START, start(0, call('a')), delta(0, '{}'), end(0), { type: 'end', finish: 'stop' }]);
  assert.equal((named(events, 'message_delta')['delta'] as JsonObject)['stop_reason'], 'tool_use');
});

// @spec messages-28
test('names a matched stop sequence', () => {
  const events = encodeAll([
    CHAT_START,
    start(0, TEXT),
    delta(0, 'a'),
    end(0),
    { type: 'end', finish: 'stop', stopSequence: 'END' },
  ]);
  const { stop_reason, stop_sequence } = named(events, 'message_delta')['delta'] as JsonObject;
  assert.deepEqual([stop_reason, stop_sequence], ['stop_sequence', 'END']);
});

test('ends a response that ends in an error with an error event', () => {
  const events = encodeAll([CHAT_START, start(0, TEXT), delta(0, 'a'), { type: 'end', finish: 'error' }]);
  assert.equal(events.at(-1)?.name, 'error');
});

test('encodes a response without any content as a whole message', () => {
  const events = encodeAll([CHAT_START, { type: 'end', finish: 'stop' }]);
  assert.equal(events.map(({ name }) => name).join(' '), 'message_start ping message_delta message_stop');
});

test('encodes an unknown price as null, and metadata in the last frame', () => {
  const events = encodeAll([CHAT_START], { ...FINAL_USAGE, charge: undefined, serviceMetadata: { attempt: 1 } });
  const usage = named(events, 'message_delta')['usage'] as JsonObject;
  assert.deepEqual([usage['cost'], usage['cost_details'], usage['is_byok']], [null, null, false]);
  assert.deepEqual(events.at(-1)?.data, { type: 'message_stop', service_metadata: { attempt: 1 } });
});

// @spec stream-28
test('writes one error event for a failure, before content and after it, and nothing more', () => {
  const error = new GatewayError('provider_overloaded', 'busy', { status: 529 });
  const early = clientFormat.createStreamEncoder(IDENTITY);
  const [only, ...others] = checkStream(early.fail(error, undefined, { ...CONTEXT, serviceMetadata: { attempt: 2 } }));
  assert.deepEqual(others, []);
  assert.deepEqual(only?.data, {
    type: 'error',
    error: {
      type: 'overloaded_error',
      message: 'busy',
      code: 529,
      error_type: 'provider_overloaded',
      metadata: { error_type: 'provider_overloaded' },
    },
    request_id: 'gen-1',
    service_metadata: { attempt: 2 },
    user_id: null,
  });
  assert.equal(early.fail(error, undefined, CONTEXT) + early.close(FINAL_USAGE), '');
  const late = clientFormat.createStreamEncoder(IDENTITY);
  const events = checkStream(
    late.encode([CHAT_START, start(0, TEXT), delta(0, 'a')]) + late.fail(error, FINAL_USAGE, CONTEXT),
  );
  assert.equal(events.at(-1)?.name, 'error');
});

const NATIVE = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      diagnostics: { a: 1 },
      usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1, speed: 'standard' },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: {
      type: 'server_tool_use',
      id: 's1',
      name: 'web_search',
      input: {},
      caller: { type: 'code_execution_20260120', tool_id: 'x' },
    },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"q":1.0}' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'web_search_tool_result', tool_use_id: 's1', content: [], n: 1 },
  },
  { type: 'content_block_stop', index: 2 },
  { type: 'content_block_start', index: 3, content_block: { type: 'text', text: '', citations: [] } },
  {
    type: 'content_block_delta',
    index: 3,
    delta: { type: 'citations_delta', citation: { type: 'page_location', cited_text: 'c', document_index: 0 } },
  },
  { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'a' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'delta_of_the_future', x: 1 } },
  { type: 'content_block_stop', index: 3 },
  { type: 'content_block_start', index: 4, content_block: { type: 'compaction', content: null } },
  { type: 'content_block_delta', index: 4, delta: { type: 'compaction_delta', content: 'short' } },
  { type: 'content_block_stop', index: 4 },
  { type: 'content_block_start', index: 5, content_block: { type: 'redacted_thinking', data: 'ZGF0YQ==' } },
  { type: 'content_block_stop', index: 5 },
  {
    type: 'message_delta',
    delta: {
      stop_reason: 'pause_turn',
      stop_sequence: null,
      stop_details: null,
      container: { id: 'c', expires_at: 't' },
      x: 1,
    },
    usage: { output_tokens: 9, iterations: [{ type: 'message' }] },
    context_management: { applied_edits: [] },
  },
  { type: 'message_stop' },
];

/** The same without the delta that no client knows. */
const KNOWN_NATIVE = readBytes([Buffer.from(frames(NATIVE))]).filter(
  (event) => event.type !== 'block-delta' || event.value?.['type'] !== 'delta_of_the_future',
);

// @spec stream-29
test('passes a stream of this format unchanged, but for the identity and the cost', () => {
  const events = readBytes([Buffer.from(frames(NATIVE))]);
  const { usage } = foldEvents(events);
  assert.ok(usage);
  const stream = encodeText(events, { ...FINAL_USAGE, usage });
  const sent = readFrames(stream);
  const content = (list: readonly { readonly type?: unknown }[]) =>
    list.filter(({ type }) => typeof type === 'string' && type.startsWith('content_block'));
  assert.deepEqual(content(sent.map(({ data }) => data)), content(NATIVE));
  const message = named(sent, 'message_start')['message'] as JsonObject;
  assert.deepEqual([message['id'], message['model'], message['diagnostics']], ['gen-1', 'acme/one', { a: 1 }]);
  assert.deepEqual(message['usage'], {
    input_tokens: 5,
    output_tokens: 1,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 2,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens_details: null,
    server_tool_use: null,
    speed: 'standard',
    inference_geo: null,
    service_tier: null,
  });
  const last = named(sent, 'message_delta');
  assert.deepEqual(last['delta'], {
    x: 1,
    stop_reason: 'pause_turn',
    stop_sequence: null,
    stop_details: null,
    container: { skills: null, id: 'c', expires_at: 't' },
  });
  assert.deepEqual(last['context_management'], { applied_edits: [] });
  assert.deepEqual((last['usage'] as JsonObject)['iterations'], [{ type: 'message' }]);
});

// @spec stream-29
test('passes a frame byte for byte, padding included', () => {
  const padded =
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}      }\n\n';
  const stream =
    frames([NATIVE[0], { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }]) + padded;
  assert.ok(encodeText(readBytes([Buffer.from(stream)])).includes(padded));
});

test('blocks that were taken out on the way leave dense indexes behind', () => {
  const events = KNOWN_NATIVE.filter((event) => !('index' in event) || event.index !== 0);
  const sent = encodeAll(events);
  assert.equal(foldContent(sent)[0]?.['type'], 'server_tool_use');
});

type Piece = 'text' | 'reasoning' | 'sealed' | 'call' | 'refusal' | 'media' | 'odd';
const BLOCK_OF: Readonly<Record<Piece, Block>> = {
  text: TEXT,
  reasoning: REASONING,
  sealed: { type: 'reasoning', form: 'encrypted', text: '' },
  call: call('x'),
  refusal: { type: 'refusal', text: '' },
  media: { type: 'media', media: 'image', source: { type: 'url', url: 'u' } },
  odd: { type: 'opaque', format: 'messages', value: { type: 'odd' } },
};

// @spec stream-23
test('whatever order blocks and deltas come in, the stream is sound and loses no text', () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('open' as const),
      piece: fc.constantFrom<Piece>('text', 'reasoning', 'sealed', 'call', 'refusal', 'media', 'odd'),
    }),
    fc.record({
      do: fc.constantFrom('text' as const, 'sign' as const, 'cite' as const, 'end' as const),
      at: fc.nat({ max: 5 }),
      text: fc.constantFrom('', 'a', '{"b":1}', '"\n'),
    }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 30 }),
      fc.constantFrom('chat' as const, 'messages' as const),
      fc.array(fc.nat({ max: 4 })),
      (steps, format, sizes) => {
        const events: GenerationEvent[] = [{ type: 'start', format }];
        const open: { index: number; piece: Piece }[] = [];
        let next = 0;
        let expected = '';
        for (const action of steps) {
          if (action.do === 'open') {
            // Only calls may stand side by side.
            if (action.piece !== 'call' || open.some(({ piece }) => piece !== 'call'))
              for (const { index } of open.splice(0)) events.push(end(index));
            events.push(start(next, BLOCK_OF[action.piece]));
            open.push({ index: next++, piece: action.piece });
            continue;
          }
          const target = open[action.at % Math.max(1, open.length)];
          if (target === undefined) continue;
          const { index, piece } = target;
          if (action.do === 'end') {
            events.push(end(index));
            open.splice(open.indexOf(target), 1);
          } else if (action.do === 'sign' && piece === 'reasoning') events.push(signature(index, 's'));
          else if (action.do === 'cite' && piece === 'text')
            events.push({ type: 'citation', index, citation: { type: 'url', url: 'u' } });
          else if (action.do === 'text' && piece !== 'media' && piece !== 'odd') {
            events.push(delta(index, action.text));
            if (piece === 'text' || piece === 'reasoning') expected += action.text;
          }
        }
        for (const { index } of open) events.push(end(index));
        events.push({ type: 'end', finish: 'stop' });

        const encoder = clientFormat.createStreamEncoder(IDENTITY);
        let stream = '';
        let from = 0;
        for (const size of [...sizes, events.length]) {
          stream += encoder.encode(events.slice(from, from + size));
          from += size;
        }
        const seen = checkStream(stream + encoder.close(FINAL_USAGE));
        const deltas = seen.map(({ data }) => (data['delta'] ?? {}) as JsonObject);
        const received = deltas.map((part) => textOf(part['text']) ?? textOf(part['thinking']) ?? '').join('');
        const refused = foldEvents(events).blocks.flatMap((block) => (block.type === 'refusal' ? [block.text] : []));
        if (format === 'messages' || refused.join('') === '') assert.equal(received, expected);
      },
    ),
    { numRuns: 300 },
  );
});

// @spec stream-7
test('encodes the same events alike to a stream and to a whole response', () => {
  const events = KNOWN_NATIVE;
  const whole = JSON.parse(encodeWhole(foldEvents(events), IDENTITY, FINAL_USAGE)) as JsonObject;
  assert.deepEqual(whole['content'], foldContent(encodeAll(events)));
});
