import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import { messagesUpstreamFormat } from '../format.ts';
import { parsePlainDelta } from './plain-chunk.ts';
import { frames, readBytes } from '../../../../tests/support/wire/messages/streams.ts';

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: 5,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      output_tokens: 1,
      service_tier: 'standard',
      inference_geo: 'eu',
    },
  },
};
const STOP = { type: 'message_stop' };

function opening(index: number, content_block: object): object {
  return { type: 'content_block_start', index, content_block };
}
function delta(index: number, value: object): object {
  return { type: 'content_block_delta', index, delta: value };
}
function closing(index: number): object {
  return { type: 'content_block_stop', index };
}
function ending(stop_reason: string | null, more: object = {}): object {
  return { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 12 }, ...more };
}
const TEXT = [opening(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'Grüße 👋' }), closing(0)];

/** A stream of every kind of event, with a character of each UTF-8 length. */
const FULL = frames([
  START,
  { type: 'ping' },
  opening(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'hm é' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  closing(0),
  opening(1, { type: 'redacted_thinking', data: 'ZGF0YQ==' }),
  closing(1),
  opening(2, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {}, caller: { type: 'direct' } }),
  delta(2, { type: 'input_json_delta', partial_json: '' }),
  delta(2, { type: 'input_json_delta', partial_json: '{"query":"€"}' }),
  closing(2),
  opening(3, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
  closing(3),
  opening(4, { type: 'text', text: '', citations: [] }),
  delta(4, {
    type: 'citations_delta',
    citation: {
      type: 'web_search_result_location',
      cited_text: 'c',
      url: 'https://e.com',
      title: null,
      encrypted_index: 'E',
    },
  }),
  delta(4, { type: 'text_delta', text: 'say "hi" 👋' }),
  closing(4),
  opening(5, { type: 'compaction', content: null }),
  delta(5, { type: 'compaction_delta', content: 'short' }),
  closing(5),
  opening(6, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
  delta(6, { type: 'input_json_delta', partial_json: '{"a"' }),
  delta(6, { type: 'input_json_delta', partial_json: ':1.0}' }),
  closing(6),
  opening(7, { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} }),
  delta(7, { type: 'input_json_delta', partial_json: '' }),
  closing(7),
  ending('tool_use', { context_management: { applied_edits: [] } }),
  STOP,
]);

function decodeText(text: string): EventBatch {
  return readBytes([Buffer.from(text)]);
}

function typesOf(events: EventBatch): string {
  return events.map(({ type }) => type).join(' ');
}

test('folds a stream to the whole response', () => {
  const response = foldEvents(decodeText(FULL));
  assert.equal(response.id, 'msg_1');
  assert.equal(response.model, 'm-1');
  assert.deepEqual(response.warnings, []);
  assert.deepEqual(response.blocks.slice(0, 3), [
    { type: 'reasoning', form: 'text', text: 'hm é', signature: 'c2ln', family: 'anthropic-claude-v1' },
    { type: 'reasoning', form: 'encrypted', text: 'ZGF0YQ==', family: 'anthropic-claude-v1' },
    {
      type: 'tool-call',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: '{"query":"€"}',
      runBy: 'upstream',
      extra: { format: 'messages', fields: { caller: { type: 'direct' } } },
    },
  ]);
  assert.deepEqual(response.blocks[4], {
    type: 'text',
    text: 'say "hi" 👋',
    citations: [
      {
        type: 'url',
        url: 'https://e.com',
        excerpt: 'c',
        extra: { format: 'messages', fields: { encrypted_index: 'E' } },
      },
    ],
  });
  assert.deepEqual(response.blocks.slice(6), [
    { type: 'tool-call', id: 'toolu_1', name: 'f', input: '{"a":1.0}', runBy: 'caller' },
    { type: 'tool-call', id: 'toolu_2', name: 'g', input: '{}', runBy: 'caller' },
  ]);
  assert.deepEqual(response.end, {
    type: 'end',
    finish: 'tool_calls',
    nativeFinish: 'tool_use',
    extra: { format: 'messages', fields: { context_management: { applied_edits: [] } } },
  });
});

// @spec money-22
test('usage is cumulative: the last count of each field stands and nothing is added', () => {
  const events = decodeText(
    frames([
      START,
      ...TEXT,
      ending('end_turn', {
        usage: {
          input_tokens: null,
          output_tokens: 12,
          output_tokens_details: { thinking_tokens: 4 },
          server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
          iterations: [],
        },
      }),
      STOP,
    ]),
  );
  assert.deepEqual(foldEvents(events).usage, {
    promptTokens: 22,
    completionTokens: 12,
    cacheReadTokens: 5,
    cacheWriteTokens: 7,
    cacheWrite1hTokens: 4,
    reasoningTokens: 4,
    webSearchRequests: 2,
    webFetchRequests: 0,
    serviceTier: 'standard',
    estimated: false,
    extra: { format: 'messages', fields: { inference_geo: 'eu', iterations: [] } },
  });
});

// @spec stream-8
test('decodes the same events from a stream cut at every byte', () => {
  const bytes = Buffer.from(FULL);
  const whole = JSON.stringify(readBytes([bytes]));
  for (let at = 0; at <= bytes.length; at++)
    assert.equal(JSON.stringify(readBytes([bytes.subarray(0, at), bytes.subarray(at)])), whole, `cut at ${at}`);
});

test('decodes the same events from arbitrary pieces, with any line ends', () => {
  const whole = decodeText(FULL);
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 200 }), { maxLength: 60 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      (sizes, lineEnd) => {
        const bytes = Buffer.from(FULL.replaceAll('\n', lineEnd));
        const pieces: Uint8Array[] = [];
        let from = 0;
        for (const size of sizes) {
          pieces.push(bytes.subarray(from, from + size));
          from += size;
        }
        assert.deepEqual(readBytes([...pieces, bytes.subarray(from)]), whole);
      },
    ),
    { numRuns: 60 },
  );
});

test('plain deltas carry their frame, others do not need one', () => {
  const events = decodeText(frames([START, ...TEXT]));
  const [, , , first] = events;
  assert.ok(first?.type === 'block-delta');
  assert.equal(first.frame?.head, JSON.stringify(delta(0, { type: 'text_delta', text: 'Grüße 👋' })));
});

/** Any UTF-16 code units, whole characters or not, with those that JSON escapes among them. */
const anyText = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 12 })
  .map((units) => String.fromCharCode(...units));

test('reads a plain delta like the parser, or leaves it to the parser', () => {
  const kinds = fc.constantFrom(
    ['text_delta', 'text'],
    ['thinking_delta', 'thinking'],
    ['input_json_delta', 'partial_json'],
  );
  fc.assert(
    fc.property(
      kinds,
      fc.nat({ max: 120 }),
      anyText,
      fc.nat({ max: 3 }),
      ([type = '', member = ''], index, text, spaces) => {
        const data = `${JSON.stringify(delta(index, { type, [member]: text })).slice(0, -1)}${' '.repeat(spaces)}}`;
        const plain = parsePlainDelta(data);
        assert.deepEqual([plain?.wireIndex, plain?.text], [index, text]);
      },
    ),
  );
  for (const data of [
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"extra":1}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","extra":1}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\tb"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\q"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\',
    '{"type":"content_block_delta","index":00,"delta":{"type":"text_delta","text":"a"}}',
    '{"type":"content_block_delta","index":,"delta":{"type":"text_delta","text":"a"}}',
    '{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"a"}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"a"}}',
  ])
    assert.equal(parsePlainDelta(data), undefined, data);
});

test('tolerates a second message_start', () => {
  const events = decodeText(frames([START, START, ...TEXT, ending('end_turn'), STOP]));
  assert.equal(events.filter(({ type }) => type === 'start').length, 1);
  assert.equal(foldEvents(events).end?.finish, 'stop');
});

/** @spec translate-25 */
for (const [native, finish] of [
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['compaction', 'stop'],
  ['of_the_future', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
] as const) {
  // @spec messages-27, translate-25
  test(`stop_reason ${native} is ${finish}`, () => {
    const { end } = foldEvents(decodeText(frames([START, ...TEXT, ending(native), STOP])));
    assert.equal(end?.finish, finish);
    assert.equal(end?.nativeFinish, native);
  });
}

// @spec translate-27
test('decodes the explanation of a refusal to a refusal block', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'no' };
  const response = foldEvents(
    decodeText(frames([START, ending('refusal', { delta: { stop_reason: 'refusal', stop_details: details } }), STOP])),
  );
  assert.deepEqual(response.blocks, [{ type: 'refusal', text: 'no' }]);
  assert.deepEqual(response.end?.extra?.fields, { stop_details: details });
});

// @spec stream-11
test('fails a stream that ends before its terminal event', () => {
  for (const events of [[], [START], [START, ...TEXT]]) {
    const last = decodeText(frames(events)).at(-1);
    assert.ok(last?.type === 'failed');
    assert.equal(last.failure.kind, 'early-end');
    assert.equal(last.failure.status, 502);
  }
});

test('completes a stream that ends after its stop reason', () => {
  const events = decodeText(frames([START, TEXT[0] ?? {}, TEXT[1] ?? {}, ending('max_tokens')]));
  assert.equal(typesOf(events), 'start usage block-start block-delta usage block-end end');
});

/** @spec error-13 */
for (const [type, errorType, status] of [
  ['overloaded_error', 'provider_overloaded', 529],
  ['rate_limit_error', 'rate_limit_exceeded', 429],
  ['api_error', 'provider_unavailable', 502],
  ['authentication_error', 'provider_unavailable', 502],
  ['timeout_error', 'timeout', 524],
  ['invalid_request_error', 'invalid_request', 400],
  ['error_of_the_future', 'provider_unavailable', 502],
] as const) {
  test(`fails with ${status} on an error event ${type}, and emits nothing more`, () => {
    const events = decodeText(frames([START, { type: 'error', error: { type, message: 'words' } }, ...TEXT, STOP]));
    const last = events.at(-1);
    assert.ok(last?.type === 'failed');
    assert.equal(last.failure.kind, 'error-event');
    assert.equal(last.failure.errorType, errorType);
    assert.equal(last.failure.status, status);
    assert.equal(last.failure.upstreamMessage, 'words');
    assert.equal(typesOf(events), 'start usage failed');
  });
}

test('skips an event that is no JSON with a warning, and decodes the rest', () => {
  const broken = 'event: content_block_delta\ndata: {"type":"content_bl\n\n';
  const text =
    frames([START, TEXT[0] ?? {}]) +
    broken.repeat(30) +
    frames([TEXT[1] ?? {}, TEXT[2] ?? {}, ending('end_turn'), STOP]);
  const response = foldEvents(decodeText(text));
  assert.deepEqual(response.blocks, [{ type: 'text', text: 'Grüße 👋' }]);
  assert.equal(response.warnings.length, 20);
});

// @spec stream-9
test('ignores a sentinel of another format and comments', () => {
  const text = `: hello\n\n${frames([START, ...TEXT, ending('end_turn')])}data: : keepalive\n\ndata: [DONE]\n\n`;
  assert.deepEqual(foldEvents(decodeText(text)).warnings, []);
});

/** What hosts of the format get wrong, and what is made of it. */
const LENIENT: readonly (readonly [string, readonly object[], string])[] = [
  [
    'a block without its stop',
    [opening(0, { type: 'text', text: 'a' }), opening(1, { type: 'text', text: 'b' })],
    'text:a text:b',
  ],
  ['text without its start', [delta(0, { type: 'text_delta', text: 'a' })], 'text:a'],
  [
    'thinking inside a text block',
    [
      opening(0, { type: 'text', text: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'text_delta', text: 'a' }),
    ],
    'text: reasoning:hm text:a',
  ],
  ['a delta after its block', [...TEXT, delta(0, { type: 'input_json_delta', partial_json: 'x' })], 'text:Grüße 👋'],
  ['a delta of a block never started', [delta(7, { type: 'input_json_delta', partial_json: 'x' })], ''],
  [
    'indexes that are not dense',
    [
      opening(4, { type: 'text', text: '' }),
      delta(4, { type: 'text_delta', text: 'a' }),
      closing(4),
      opening(9, { type: 'text', text: 'b' }),
    ],
    'text:a text:b',
  ],
  [
    'tool calls side by side',
    [
      opening(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      opening(1, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"n":0}' }),
      delta(1, { type: 'input_json_delta', partial_json: '{"n":1}' }),
      closing(0),
      closing(1),
    ],
    'tool-call:{"n":0} tool-call:{"n":1}',
  ],
  [
    'an input that comes with the opening',
    [opening(0, { type: 'tool_use', id: 'a', name: 'f', input: { n: 1 } }), closing(0)],
    'tool-call:{"n":1}',
  ],
  ['a start without a block', [{ type: 'content_block_start', index: 0 }], ''],
  [
    'a delta without a delta',
    [opening(0, { type: 'text', text: '' }), { type: 'content_block_delta', index: 0 }],
    'text:',
  ],
];

for (const [what, events, expected] of LENIENT) {
  test(`${what} does no harm`, () => {
    const decoded = decodeText(frames([START, ...events, ending('end_turn'), STOP]));
    checkEvents(decoded);
    const blocks = foldEvents(decoded).blocks.map((block) => {
      if (block.type === 'tool-call') return `tool-call:${block.input}`;
      return 'text' in block ? `${block.type}:${block.text}` : block.type;
    });
    assert.equal(blocks.join(' '), expected);
  });
}

test('whatever arrives, the events keep to their grammar', () => {
  const index = fc.nat({ max: 2 });
  const piece = fc.oneof(
    fc.constant(START),
    fc.constant({ type: 'ping' }),
    fc.record({ type: fc.constant('content_block_stop'), index }),
    fc
      .tuple(index, fc.constantFrom('text', 'thinking', 'tool_use', 'redacted_thinking', 'odd'))
      .map(([at, type]) => opening(at, { type, id: 'i', name: 'n' })),
    fc
      .tuple(
        index,
        fc.constantFrom(
          'text_delta',
          'thinking_delta',
          'input_json_delta',
          'signature_delta',
          'citations_delta',
          'odd',
        ),
      )
      .map(([at, type]) =>
        delta(at, { type, text: 't', thinking: 'h', partial_json: 'j', signature: 's', citation: {} }),
      ),
    fc.constant(ending('end_turn')),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.boolean(), (pieces, stops) => {
      checkEvents(decodeText(frames(stops ? [...pieces, STOP] : pieces)));
    }),
    { numRuns: 300 },
  );
});

test('fails on an event beyond the bound, before it fills the memory', () => {
  const decoder = messagesUpstreamFormat.createStreamDecoder();
  const chunk = Buffer.alloc(4 * 1_024 * 1_024, 'a');
  const events: GenerationEvent[] = [];
  for (let sent = 0; sent < 40 && events.length === 0; sent++) events.push(...decoder.push(chunk));
  assert.ok(events[0]?.type === 'failed' && events[0].failure.kind === 'too-large');
  assert.deepEqual(decoder.push(chunk), []);
  assert.deepEqual(decoder.end(), []);
});

test('reports events skipped before the response begins after its start, and also when it never begins', () => {
  const early = frames(['no object', { type: 'future_event' }]);
  const reported = readBytes([Buffer.from(early + frames([START, ...TEXT, ending('end_turn'), STOP]))]);
  checkEvents(reported);
  assert.deepEqual(
    reported.slice(0, 3).map(({ type }) => type),
    ['start', 'warning', 'warning'],
  );
  assert.equal(foldEvents(reported).id, 'msg_1');
  const silent = readBytes([Buffer.from(early)]);
  checkEvents(silent);
  assert.deepEqual(
    silent.map(({ type }) => type),
    ['start', 'warning', 'warning', 'failed'],
  );
});
