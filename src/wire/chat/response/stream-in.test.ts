import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { GenerationResponse } from '../../../canonical/response.ts';
import type { GenerationEvent } from '../../../canonical/events.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { createStreamDecoder } from './stream-in.ts';
import { chunk, decodeStream, finish, foldStream, stream } from '../../../../tests/support/wire/chat/streams.ts';

const DONE = '[DONE]';
const USAGE = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 };

/** A stream with all that chat can say, in bytes that no cut may hurt. */
const RICH = Buffer.from(
  [
    '\uFEFF: PROCESSING\r\n\r\n',
    ...[
      chunk({ role: 'assistant', content: '' }, {}, { system_fingerprint: 'fp', x_vendor: { a: 1 } }),
      chunk({ reasoning: 'hm 🤔', reasoning_details: [{ type: 'reasoning.text', text: 'hm 🤔', index: 0 }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }] }),
      chunk({ content: 'Grüße ' }, { logprobs: { content: [{ token: 'G' }] } }),
      chunk({ content: '— 日本' }),
      chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a', title: 'A' } }] }),
      chunk({ tool_calls: [call(0, 'a', 'f', ''), call(1, 'b', 'g', '')] }),
      chunk({ tool_calls: [piece(0, '{"q":'), piece(1, '{')] }),
      chunk({ tool_calls: [piece(1, '}'), piece(0, '"é"}')] }),
      finish('tool_calls', { usage: null }),
      { id: 'up-1', choices: [], usage: USAGE },
    ].map((entry, index) => `data: ${JSON.stringify(entry)}${index % 3 === 0 ? '\r\n\r\n' : '\n\n'}`),
    'data: : keepalive\n\n',
    'data: [DONE]\n\n',
  ].join(''),
);

function call(index: number, id: string, name: string, input: Json): JsonObject {
  return { index, id, type: 'function', function: { name, arguments: input } };
}

function piece(index: number, input: string): JsonObject {
  return { index, function: { arguments: input } };
}

function typesOf(batch: readonly GenerationEvent[]): readonly string[] {
  return batch.map(({ type }) => type);
}

/** The JSON that a chunk keeps when it comes in the middle of a text. */
function frameOf(entry: JsonObject): string | undefined {
  const deltas = decodeStream(stream(chunk({ content: 'a' }), entry)).filter((event) => event.type === 'block-delta');
  const frame = deltas.at(-1)?.frame;
  return frame && frame.head + frame.json + frame.tail;
}

/** A piece of a call without index and id. */
function bare(name: string | undefined, input: string): JsonObject {
  return { function: { arguments: input, ...(name !== undefined && { name }) } };
}

function detailed(type: string, index: number, rest: JsonObject): JsonObject {
  return chunk({ reasoning_details: [{ type: `reasoning.${type}`, index, format: 'anthropic-claude-v1', ...rest }] });
}

function citing(citations: Json): JsonObject {
  return chunk({ content: 'a' }, {}, { citations });
}

function withLogprob(token: string): JsonObject {
  return { logprobs: { content: [{ token, logprob: -1 }] } };
}

/** Calls of a response as `name(arguments)`. */
function callsOf(response: GenerationResponse): readonly string[] {
  return response.blocks.flatMap((block) => (block.type === 'tool-call' ? [`${block.name}(${block.input})`] : []));
}

function textsOf(response: GenerationResponse): readonly string[] {
  return response.blocks.flatMap((block) => ('text' in block ? [`${block.type}: ${block.text}`] : []));
}

/** The calls of a response made of these deltas. */
function callsFrom(...deltas: readonly Json[]): readonly string[] {
  return callsOf(foldStream(...deltas.map((entry) => chunk({ tool_calls: entry })), finish('tool_calls'), DONE));
}

suite('chat stream: however it is cut', () => {
  const whole = decodeStream(RICH);

  test('reads it in full', () => {
    checkEvents(whole);
    assert.deepEqual(
      whole.map(({ type }) => type),
      [
        'start', 'block-start', 'block-delta', 'block-delta', 'block-end', 'block-start', 'block-delta', 'block-delta',
        'citation', 'block-end', 'block-start', 'block-delta', 'block-start', 'block-delta', 'block-delta',
        'block-delta', 'block-end', 'block-end', 'usage', 'end',
      ],
    ); // prettier-ignore
  });

  // @spec stream-8
  test('decodes the same after a cut at any byte', () => {
    for (let cut = 0; cut <= RICH.length; cut++) assert.deepEqual(decodeStream(RICH, [cut]), whole);
  });

  test('decodes the same after any number of cuts', () => {
    const cuts = fc
      .uniqueArray(fc.nat(RICH.length), { maxLength: 40 })
      .map((places) => places.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(cuts, (places) => {
        assert.deepEqual(decodeStream(RICH, places), whole);
      }),
      { numRuns: 50 },
    );
  });

  test('emits with each read every event that it completes', () => {
    const decoder = createStreamDecoder();
    assert.deepEqual(typesOf(decoder.push(stream(chunk({ content: 'a' })))), ['start', 'block-start', 'block-delta']);
    assert.deepEqual(typesOf(decoder.push(stream(chunk({ content: 'b' }), chunk({ content: 'c' })))), [
      'block-delta',
      'block-delta',
    ]);
    assert.deepEqual(typesOf(decoder.push(stream(finish('stop')))), ['block-end']);
    assert.deepEqual(typesOf(decoder.push(stream(DONE))), ['end']);
    assert.deepEqual(decoder.push(stream(chunk({ content: 'late' }))), []);
    assert.deepEqual(decoder.end(), []);
  });
});

suite('chat stream: plain text', () => {
  test('keeps the JSON of a chunk of text alone', () => {
    for (const entry of [
      chunk({ content: 'b' }),
      chunk({ role: 'assistant', content: 'b', refusal: null, reasoning_content: null }),
      chunk({ content: 'b' }, { logprobs: null, native_finish_reason: null }, { usage: null, service_tier: 'default' }),
      chunk({ content: 'a "b"\n' }),
    ])
      assert.equal(frameOf(entry), JSON.stringify(entry));
  });

  test('leaves out random padding', () => {
    const padded = chunk({ content: 'b' }, {}, { obfuscation: 'xyz', p: 'abc' });
    assert.equal(frameOf(padded), JSON.stringify(chunk({ content: 'b' })));
  });

  test('keeps no JSON of a chunk with further members, or that needs more than another head', () => {
    const { choices, ...head } = chunk({ content: 'b' });
    for (const entry of [
      chunk({ content: 'b', channel: 'x' }),
      chunk({ content: 'b' }, { logprobs: { content: [] } }),
      chunk({ content: 'b' }, {}, { usage: USAGE }),
      chunk({ content: 'b' }, {}, { citations: [] }),
      chunk({ content: 'b' }, {}, { provider: 'Other' }),
      { choices, ...head },
      { ...head, choices: [{ index: 0, delta: { content: 'b' } }] },
    ] as const)
      assert.equal(frameOf(entry as JsonObject), undefined, JSON.stringify(entry));
  });

  test('data of several lines is read, and is no frame', () => {
    const text = JSON.stringify(chunk({ content: 'b' }), null, 1).replaceAll('\n', '\ndata: ');
    const events = decodeStream(stream(chunk({ content: 'a' }), text, finish('stop')));
    const deltas = events.filter((event) => event.type === 'block-delta');
    assert.deepEqual(
      deltas.map(({ text: stated, frame }) => [stated, frame]),
      [
        ['a', undefined],
        ['b', undefined],
      ],
    );
  });
});

suite('chat stream: tool calls', () => {
  // @spec translate-31
  test('interleaved indexes', () => {
    assert.deepEqual(
      callsFrom(
        [call(0, 'a', 'f', ''), call(1, 'b', 'g', '')],
        [piece(1, '{"y"')],
        [piece(0, '{"x":1}')],
        [piece(1, ':2}')],
      ),
      ['f({"x":1})', 'g({"y":2})'],
    );
  });

  // @spec translate-31
  test('index 0 for all, different ids', () => {
    assert.deepEqual(callsFrom([call(0, 'a', 'f', '{"x":1}')], [call(0, 'b', 'f', '{"x":2}')]), [
      'f({"x":1})',
      'f({"x":2})',
    ]);
  });

  test('index 0 for all, no ids', () => {
    assert.deepEqual(
      callsFrom([call(0, '', 'f', '{"x":1}')], [call(0, '', 'f', '{"x":2}')], [call(0, '', 'g', '{}')]),
      ['f({"x":1})', 'f({"x":2})', 'g({})'],
    );
  });

  test('no index at all', () => {
    assert.deepEqual(callsFrom([bare('f', '{"x":1}'), bare('g', '{}')]), ['f({"x":1})', 'g({})']);
    assert.deepEqual(callsFrom([bare('f', '{"x"')], [bare(undefined, ':1}')], [bare('g', '{}')]), [
      'f({"x":1})',
      'g({})',
    ]);
  });

  test('starts no new call for an id that changes with every piece', () => {
    assert.deepEqual(callsFrom([call(0, 'a', 'f', '{')], [{ index: 0, id: 'b', function: { arguments: '}' } }]), [
      'f({})',
    ]);
  });

  // @spec translate-31
  test('a name in fragments, repeated, or after the arguments', () => {
    assert.deepEqual(callsFrom([call(0, 'a', 'get_', '')], [call(0, 'a', 'weather', '')], [piece(0, '{}')]), [
      'get_weather({})',
    ]);
    assert.deepEqual(callsFrom([call(0, 'a', 'f', '')], [call(0, 'a', 'f', '{')], [call(0, 'a', 'f', '}')]), ['f({})']);
    assert.deepEqual(callsFrom([call(0, '', 'f', '{}')], [call(0, '', 'f', '')]), ['f({})']);
    assert.deepEqual(callsFrom([piece(0, '{"x"')], [call(0, 'a', 'f', ':1}')]), ['f({"x":1})']);
    assert.deepEqual(callsFrom([call(0, 'a', '', '{"x":1}')], [call(0, '', 'f', '')]), ['f({"x":1})']);
  });

  // @spec translate-8
  test('makes up a missing or empty id, and keeps a late one', () => {
    for (const id of [undefined, '', null]) {
      const response = foldStream(
        chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: '{}' } }] }),
        finish('stop'),
      );
      const [block] = response.blocks;
      assert.match(block?.type === 'tool-call' ? block.id : '', /^call_[A-Za-z0-9]{24}$/);
    }
    const late = foldStream(
      chunk({ tool_calls: [{ index: 0, function: { name: 'f' } }] }),
      chunk({ tool_calls: [{ index: 0, id: 'late', function: { arguments: '{}' } }] }),
      finish('stop'),
    );
    assert.equal(late.blocks[0]?.type === 'tool-call' && late.blocks[0].id, 'late');
  });

  test('arguments as an object become text with their numbers as written', () => {
    const text =
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1.0,"y":12345678901234567890}}}]},"finish_reason":"tool_calls"}]}';
    assert.deepEqual(callsOf(foldStream(text, DONE)), ['f({"x":1.0,"y":12345678901234567890})']);
    assert.deepEqual(callsFrom([{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }]), ['f({"x":1})']);
  });

  test('decodes a call without arguments', () => {
    assert.deepEqual(callsFrom([call(0, 'a', 'f', '')]), ['f()']);
    assert.deepEqual(callsFrom([{ index: 0, id: 'a', function: { name: 'f', arguments: null } }]), ['f()']);
  });

  test('omits a call without a name, with a warning', () => {
    const response = foldStream(chunk({ tool_calls: [piece(0, '{}')] }), finish('stop'));
    assert.deepEqual(response.blocks, []);
    assert.equal(response.warnings[0]?.code, 'event-skipped');
    assert.equal(response.end?.finish, 'stop');
  });

  test('decodes the older function_call as a call', () => {
    const response = foldStream(
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{}' } }),
      finish('function_call'),
    );
    assert.deepEqual(callsOf(response), ['f({})']);
    assert.equal(response.end?.finish, 'tool_calls');
    assert.equal(response.end?.nativeFinish, 'function_call');
  });

  // @spec translate-26
  test('calls under another finish reason are calls', () => {
    assert.equal(
      foldStream(chunk({ tool_calls: [call(0, 'a', 'f', '{}')] }), finish('stop')).end?.finish,
      'tool_calls',
    );
    assert.equal(foldStream(chunk({ tool_calls: [call(0, 'a', 'f', '{}')] }), finish('length')).end?.finish, 'length');
  });

  test('keeps unknown members on their call', () => {
    const signed = { ...call(0, 'a', 'f', '{}'), extra_content: { google: { thought_signature: 's' } } };
    const [block] = foldStream(chunk({ tool_calls: [signed] }), finish('stop')).blocks;
    assert.deepEqual(block?.extra?.fields, { extra_content: { google: { thought_signature: 's' } } });
  });

  test('text between the pieces of a call waits for its arguments', () => {
    const response = foldStream(
      chunk({ tool_calls: [call(0, 'a', 'f', '{"x"')] }),
      chunk({ content: 'be' }),
      chunk({ tool_calls: [piece(0, ':1}')], content: 'tween' }),
      finish('tool_calls'),
    );
    assert.deepEqual(callsOf(response), ['f({"x":1})']);
    assert.deepEqual(textsOf(response), ['text: between']);
  });

  test('text keeps its order while a call is still without arguments', () => {
    const response = foldStream(
      chunk({ content: 'a' }),
      chunk({ tool_calls: [call(0, 'a', 'f', '')] }),
      chunk({ content: 'b' }, { matched: 1 }),
      chunk({ content: 'c' }),
      chunk({ tool_calls: [piece(0, '{}')] }),
      finish('tool_calls'),
    );
    assert.deepEqual(textsOf(response), ['text: a', 'text: bc']);
    assert.deepEqual(callsOf(response), ['f({})']);
  });

  test('text after a complete call comes at once', () => {
    const events = decodeStream(stream(chunk({ tool_calls: [call(0, 'a', 'f', '{}')] }), chunk({ content: 'x' })));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['start', 'block-start', 'block-delta', 'block-end', 'block-start', 'block-delta', 'failed'],
    );
  });
});

suite('chat stream: any order of what upstreams send', () => {
  const pieceOf = fc.oneof(
    fc.record({ content: fc.constantFrom('', 'a', 'b') }),
    fc.record({ reasoning: fc.constantFrom('', 'r') }),
    fc.record({ reasoning_content: fc.constantFrom('r', 's') }),
    fc.record({ refusal: fc.constant('n') }),
    fc.record({ images: fc.constant([{ image_url: { url: 'https://a/b.png' } }]) }),
    fc.record({ annotations: fc.constant([{ type: 'file', file: {} }]) }),
    fc
      .record({
        index: fc.constantFrom(0, 1, undefined),
        id: fc.constantFrom('a', 'b', '', undefined),
        function: fc.record({
          name: fc.constantFrom('f', 'g', undefined),
          arguments: fc.constantFrom('', '{', '}', '{}'),
        }),
      })
      .map((entry) => ({ tool_calls: [entry] })),
  );

  test('keeps to the grammar of events, loses no text and changes no order of it', () => {
    fc.assert(
      fc.property(fc.array(pieceOf, { maxLength: 12 }), (deltas) => {
        const chunks = deltas.map((delta) => chunk(JSON.parse(JSON.stringify(delta))));
        const response = foldStream(...chunks, finish('stop'), DONE);
        const stated = deltas.map((delta) => ('content' in delta ? delta.content : '')).join('');
        assert.equal(response.blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''), stated);
      }),
      { numRuns: 300 },
    );
  });
});

suite('chat stream: reasoning', () => {
  test('decodes any of the plain members as reasoning, and details once', () => {
    for (const member of ['reasoning', 'reasoning_content'])
      assert.deepEqual(
        textsOf(foldStream(chunk({ [member]: 'a' }), chunk({ [member]: 'b', content: '' }), finish('stop'))),
        ['reasoning: ab'],
      );
    const detail = { type: 'reasoning.text', text: 'a', index: 0, format: 'unknown' };
    assert.deepEqual(
      textsOf(
        foldStream(chunk({ reasoning: 'a', reasoning_content: 'a', reasoning_details: [detail] }), finish('stop')),
      ),
      ['reasoning: a'],
    );
    assert.deepEqual(textsOf(foldStream(chunk({ reasoning: 'a', reasoning_details: [] }), finish('stop'))), [
      'reasoning: a',
    ]);
  });

  test('pieces of one detail make one block, another index, type or text another', () => {
    const response = foldStream(
      detailed('text', 0, { text: 'a' }),
      detailed('text', 0, { text: 'b' }),
      detailed('text', 0, { signature: 's' }),
      detailed('encrypted', 1, { data: 'e1' }),
      detailed('encrypted', 1, { data: 'e2' }),
      detailed('summary', 2, { summary: 'z' }),
      chunk({ content: 'x' }),
      chunk({
        reasoning_details: [{ type: 'reasoning.server_tool_call', tool_name: 't', arguments: '{}', result: '{}' }],
      }),
      finish('stop'),
    );
    assert.deepEqual(
      response.blocks.map((block) =>
        block.type === 'reasoning' ? [block.form, block.text, block.signature, block.family] : block.type,
      ),
      [
        ['text', 'ab', 's', 'anthropic-claude-v1'],
        ['encrypted', 'e1e2', undefined, 'anthropic-claude-v1'],
        ['summary', 'z', undefined, 'anthropic-claude-v1'],
        'text',
        'opaque',
      ],
    );
  });

  test('content as a list of parts: thinking and text', () => {
    const response = foldStream(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: '.' }], closed: true },
          { type: 'text', text: '14' },
        ],
      }),
      chunk({ content: '4' }),
      chunk({ content: [{ type: 'reference', reference_ids: [1] }] }),
      finish('stop'),
    );
    assert.deepEqual(textsOf(response), ['reasoning: hm.', 'text: 144']);
    assert.equal(response.warnings.length, 1);
  });
});

suite('chat stream: how it ends', () => {
  test('usage after the finish reason comes before the end', () => {
    const events = decodeStream(stream(chunk({ content: 'a' }), finish('stop'), { choices: [], usage: USAGE }, DONE));
    assert.deepEqual(
      events.slice(-2).map(({ type }) => type),
      ['usage', 'end'],
    );
  });

  // @spec stream-9
  test('ignores a keep-alive of another format', () => {
    const response = foldStream({ type: 'ping' }, chunk({ content: 'x' }), { type: 'ping' }, finish('stop'), '[DONE]');
    assert.equal(response.extras.filter(({ fields }) => 'type' in fields).length, 0);
    assert.equal(response.end?.finish, 'stop');
  });

  // @spec money-22
  test('usage on every chunk is cumulative: the latest counts', () => {
    const response = foldStream(
      chunk({ content: 'a' }, {}, { usage: { prompt_tokens: 5, completion_tokens: 1 } }),
      chunk({ content: 'b' }, {}, { usage: { prompt_tokens: 5, completion_tokens: 2 } }),
      finish('stop'),
    );
    assert.equal(response.usage?.completionTokens, 2);
    assert.deepEqual(textsOf(response), ['text: ab']);
  });

  test('needs no sentinel after a finish reason', () => {
    assert.equal(foldStream(chunk({ content: 'a' }), finish('length')).end?.finish, 'length');
  });

  // @spec stream-11
  test('fails a response that closes without a finish reason', () => {
    const response = foldStream(chunk({ content: 'a' }));
    assert.equal(response.end, undefined);
    assert.equal(response.failure?.kind, 'early-end');
    assert.equal(response.failure?.status, 502);
    assert.deepEqual(textsOf(response), ['text: a']);
    for (const rest of [[], [DONE]]) assert.equal(foldStream(...rest).failure?.kind, 'early-end');
  });

  test('ends a response with [DONE] and without a finish reason as unknown', () => {
    const response = foldStream(chunk({ content: 'a' }), DONE);
    assert.deepEqual([response.failure, response.end], [undefined, { type: 'end', finish: 'unknown' }]);
    assert.deepEqual(textsOf(response), ['text: a']);
  });

  test('fails on an error in the stream, in any shape', () => {
    const shapes: readonly (readonly [JsonObject, number, string])[] = [
      [{ error: { code: 429, message: 'slow down' } }, 429, 'rate_limit_exceeded'],
      [{ error: { type: 'overloaded_error', message: 'busy' } }, 529, 'provider_overloaded'],
      [{ error: { type: 'server_error', message: 'oops' } }, 502, 'provider_unavailable'],
      [
        { error: { code: 'context_length_exceeded', message: 'maximum context length' } },
        400,
        'context_length_exceeded',
      ],
      [{ error: 'just words' }, 502, 'provider_unavailable'],
      [{ object: 'error', message: 'bad', code: 400 }, 400, 'invalid_request'],
      [{ message: 'bad', status_code: 503 }, 502, 'provider_unavailable'],
      [chunk({ content: '' }, { finish_reason: 'error' }, { error: { code: 504, message: 'late' } }), 524, 'timeout'],
    ];
    for (const [shape, status, type] of shapes) {
      const { failure, end, blocks } = foldStream(chunk({ content: 'a' }), shape, chunk({ content: 'more' }), DONE);
      assert.deepEqual(
        [failure?.kind, failure?.status, failure?.errorType],
        ['error-event', status, type],
        JSON.stringify(shape),
      );
      assert.equal(end, undefined);
      assert.equal(blocks.length, 1);
    }
  });

  test('fails on an event named error, and on an error after the finish reason', () => {
    const named = Buffer.concat([
      stream(chunk({ content: 'a' })),
      Buffer.from('event: error\ndata: {"message":"x","code":"500"}\n\n'),
    ]);
    assert.equal(decodeStream(named).at(-1)?.type, 'failed');
    assert.equal(foldStream(finish('length'), { error: { code: 400, message: 'limit' } }).failure?.status, 400);
  });

  test('fails without a start on an error as the first event', () => {
    assert.deepEqual(
      decodeStream(stream({ error: { code: 503, message: 'x' } })).map(({ type }) => type),
      ['failed'],
    );
  });

  test('redacts keys in the message of an upstream failure', () => {
    const response = foldStream({ error: { code: 401, message: 'Incorrect API key provided: sk-abcdefghijkl' } });
    assert.doesNotMatch(JSON.stringify(response.failure), /sk-abc/);
    assert.equal(response.failure?.status, 502);
  });

  test('content after the finish reason is left out, empty content is none', () => {
    const response = foldStream(
      chunk({ content: 'a' }),
      finish('stop'),
      chunk({ content: '' }),
      chunk({ content: 'b' }),
      DONE,
    );
    assert.deepEqual(textsOf(response), ['text: a']);
    assert.equal(response.warnings.length, 1);
  });

  test('unreadable events are skipped and noted, at most twenty of them', () => {
    const bad = Array.from({ length: 30 }, () => '{"choices":[{"delta":{"content":"lost');
    const response = foldStream(
      chunk({ content: 'a' }),
      ...bad,
      '[1]',
      'nonsense',
      chunk({ content: 'b' }),
      finish('stop'),
    );
    assert.deepEqual(textsOf(response), ['text: ab']);
    assert.equal(response.warnings.length, 20);
    assert.ok(response.warnings.every(({ code }) => code === 'event-skipped'));
  });

  test('bounds the memory of an event without an end', () => {
    const decoder = createStreamDecoder();
    const block = Buffer.alloc(4 * 1024 * 1024, 'x');
    const events: GenerationEvent[] = [];
    for (let megabytes = 0; megabytes <= 40 && events.length === 0; megabytes += 4) events.push(...decoder.push(block));
    const [event] = events;
    assert.equal(event?.type === 'failed' && event.failure.kind, 'too-large');
    assert.deepEqual(decoder.push(block), []);
    assert.deepEqual(decoder.end(), []);
  });

  // @spec translate-25
  test('words of vendors for why they stopped', () => {
    const words: Record<string, string> = {
      stop: 'stop',
      STOP: 'stop',
      eos: 'stop',
      length: 'length',
      model_length: 'length',
      content_filter: 'content_filter',
      error: 'error',
      abort: 'error',
    };
    for (const [word, meaning] of Object.entries(words)) {
      const { end } = foldStream(chunk({ content: 'a' }), finish(word));
      assert.deepEqual([end?.finish, end?.nativeFinish], [meaning, word]);
    }
    const native = chunk({}, { finish_reason: 'stop', native_finish_reason: 'end_turn', stop_reason: 'END' });
    const { end } = foldStream(native);
    assert.deepEqual([end?.finish, end?.nativeFinish, end?.stopSequence], ['stop', 'end_turn', 'END']);
  });
});

suite('chat stream: around the content', () => {
  test('chunks without choices, with empty ones or of other indexes are no content', () => {
    const response = foldStream(
      { id: 'x', choices: [], prompt_filter_results: [{ index: 0 }] },
      { id: 'x' },
      { choices: [{ index: 1, delta: { content: 'other' } }] },
      { choices: null },
      chunk(null),
      chunk({ role: 'assistant' }),
      chunk({ content: 'a' }),
      finish('stop'),
    );
    assert.deepEqual(textsOf(response), ['text: a']);
    assert.deepEqual(response.extras[0]?.fields, { prompt_filter_results: [{ index: 0 }] });
  });

  test('passes members of the response on: once when they are repeated, again when they change', () => {
    const response = foldStream(citing(['u']), citing(['u']), citing(['u', 'v']), finish('stop'));
    assert.deepEqual(
      response.extras.map(({ fields }) => fields),
      [{ created: 5, citations: ['u'] }, { citations: ['u', 'v'] }],
    );
  });

  // @spec chat-response-5
  test('log probabilities stay with their text and add up', () => {
    const response = foldStream(
      chunk({ content: 'a' }, withLogprob('a')),
      chunk({ content: 'b' }, withLogprob('b')),
      finish('stop'),
    );
    assert.deepEqual(response.blocks[0]?.extra?.fields, {
      choices: {
        logprobs: {
          content: [
            { token: 'a', logprob: -1 },
            { token: 'b', logprob: -1 },
          ],
        },
      },
    });
  });

  test('generated audio adds up', () => {
    const response = foldStream(
      chunk({ audio: { id: 'au', transcript: 'Hel' } }),
      chunk({ audio: { data: 'AAAA' } }),
      chunk({ audio: { transcript: 'lo', data: 'BBBB' } }),
      chunk({ audio: { expires_at: 9 } }),
      finish('stop'),
    );
    const [block] = response.blocks;
    assert.ok(block?.type === 'media' && block.source.type === 'base64');
    assert.equal(block.source.data, 'AAAABBBB');
    assert.deepEqual(block.extra?.fields, { audio: { id: 'au', transcript: ['Hel', 'lo'], expires_at: 9 } });
  });

  test('decodes a refusal as no text', () => {
    assert.deepEqual(textsOf(foldStream(chunk({ refusal: 'I can' }), chunk({ refusal: 'not.' }), finish('stop'))), [
      'refusal: I cannot.',
    ]);
  });
});

suite('chat stream: before it begins', () => {
  test('reports skipped events after the start, and also when the response never begins', () => {
    const reported = decodeStream(stream('no json', '[1]', chunk({ content: 'hi' }), finish('stop'), DONE));
    checkEvents(reported);
    assert.deepEqual(typesOf(reported).slice(0, 3), ['start', 'warning', 'warning']);
    const silent = decodeStream(stream('no json', DONE));
    checkEvents(silent);
    assert.deepEqual(typesOf(silent), ['start', 'warning', 'failed']);
  });

  test('emits a start before the usage of a response that was an error from the beginning', () => {
    const events = decodeStream(stream({ error: { message: 'x', code: 500 }, usage: USAGE }));
    checkEvents(events);
    assert.deepEqual(typesOf(events), ['start', 'usage', 'failed']);
  });
});
