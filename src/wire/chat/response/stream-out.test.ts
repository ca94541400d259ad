import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { Block } from '../../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import { foldEvents } from '../../../canonical/fold.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { parseJson, type JsonObject } from '../../../lib/json.ts';
import type { FinalUsage, ErrorContext } from '../../format.ts';
import { ChatStreamEncoder } from './stream-out.ts';
import { encodeWhole } from './response-out.ts';
import { objectOf, objectsOf } from '../../json-fields.ts';
import {
  FINAL_USAGE,
  chunk,
  decodeStream,
  deltasOf,
  finish,
  foldStream,
  IDENTITY,
  readStream,
  stream,
} from '../../../../tests/support/wire/chat/streams.ts';

const START: GenerationEvent = { type: 'start', format: 'messages' };
const END: GenerationEvent = { type: 'end', finish: 'stop', nativeFinish: 'end_turn' };
const CONTEXT: ErrorContext = { generationId: 'gen-1', serviceMetadata: undefined, baseUrl: 'http://h/v1' };

/** The chunks of one response. */
function write(events: EventBatch, finalUsage: FinalUsage = FINAL_USAGE): readonly JsonObject[] {
  const encoder = new ChatStreamEncoder(IDENTITY);
  return readStream(encoder.encode(events) + encoder.close(finalUsage));
}

/** The chunks of a response from a chat upstream. */
function relay(...chunks: readonly JsonObject[]): readonly JsonObject[] {
  return write(decodeStream(stream(...chunks)));
}

/** A block from another format: opened, written in these pieces, ended. */
function block(index: number, opened: Block, ...texts: readonly string[]): readonly GenerationEvent[] {
  return [
    { type: 'block-start', index, block: opened },
    ...texts.map((text): GenerationEvent => ({ type: 'block-delta', index, text })),
    { type: 'block-end', index },
  ];
}

/** The texts that a client puts together. */
function textsOf(chunks: readonly JsonObject[]): readonly string[] {
  return deltasOf(chunks).flatMap(({ content }) => (typeof content === 'string' ? [content] : []));
}

/** What a block says, whatever it is called on the wire. */
function emitBlock(stated: Block): unknown {
  return stated.type === 'tool-call'
    ? [stated.id, stated.name, stated.input]
    : 'text' in stated && [stated.type, stated.text];
}

function call(id: string, name: string, runBy: 'caller' | 'upstream' = 'caller'): Block {
  return { type: 'tool-call', id, name, input: '', runBy };
}

const TEXT: Block = { type: 'text', text: '' };

suite('chat stream encoder: a response', () => {
  // @spec stream-14, stream-15
  test('starts with the role, ends with the reason, the usage and the sentinel', () => {
    const chunks = write([START, ...block(0, TEXT, 'Hel', 'lo'), END]);
    const [first] = chunks;
    assert.deepEqual(first, {
      id: 'gen-1',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'acme/one',
      provider: 'Acme',
      choices: [
        { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null, native_finish_reason: null },
      ],
    });
    assert.deepEqual(deltasOf(chunks), [
      { role: 'assistant', content: '' },
      { content: 'Hel' },
      { content: 'lo' },
      { content: '' },
    ]);
    assert.deepEqual(objectsOf(chunks.at(-2)?.['choices'])[0], {
      index: 0,
      delta: { content: '' },
      finish_reason: 'stop',
      native_finish_reason: 'end_turn',
    });
    assert.deepEqual(chunks.at(-1), {
      id: 'gen-1',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: 'acme/one',
      provider: 'Acme',
      choices: [],
      service_tier: null,
      usage: {
        prompt_tokens: 20,
        completion_tokens: 9,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
        cost: 0.00012,
        cost_details: {
          upstream_inference_cost: null,
          upstream_inference_prompt_cost: 0.00004,
          upstream_inference_completions_cost: 0.00008,
        },
        is_byok: false,
      },
    });
  });

  // @spec stream-13
  test('names itself in the same way in every chunk, whatever the upstream called itself', () => {
    const upstream = [
      chunk({ role: 'assistant' }, {}, { system_fingerprint: 'fp' }),
      chunk({ reasoning: 'hm' }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }, {}, { model: 'changed', created: 6 }),
      chunk({ content: 'c' }, {}, { id: 'other', provider: 'Inner' }),
      finish('stop'),
    ];
    const chunks = relay(...upstream);
    for (const { id, object, created, model, provider } of chunks)
      assert.deepEqual(
        { id, object, created, model, provider },
        {
          id: 'gen-1',
          object: 'chat.completion.chunk',
          created: 1_760_000_000,
          model: 'acme/one',
          provider: 'Acme',
        },
      );
    assert.deepEqual(textsOf(chunks).join(''), 'abc');
  });

  test('has its role without any content', () => {
    assert.deepEqual(deltasOf(write([START, END])), [{ role: 'assistant', content: '' }, { content: '' }]);
  });

  // @spec chat-response-4
  test('shows metadata and the tier that served with the usage', () => {
    const finalUsage: FinalUsage = {
      ...FINAL_USAGE,
      usage: { ...FINAL_USAGE.usage, serviceTier: 'standard' },
      serviceMetadata: { requested: 'acme/one' },
    };
    const last = write([START, END], finalUsage).at(-1);
    assert.deepEqual([last?.['service_tier'], last?.['service_metadata']], ['default', { requested: 'acme/one' }]);
  });
});

suite('chat stream encoder: chunks of a chat upstream', () => {
  test('plain text passes with its head changed, and without nulls of the chunk', () => {
    const entry = chunk({ content: 'b — "q"' }, { logprobs: null });
    const nulls = { ...entry, usage: null, system_fingerprint: null };
    const chunks = relay(chunk({ content: 'a' }), nulls, finish('stop'));
    assert.deepEqual(chunks[2], {
      ...entry,
      id: 'gen-1',
      created: 1_760_000_000,
      model: 'acme/one',
      provider: 'Acme',
    });
  });

  test('text is the same whether its chunk is written again or anew', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(fc.tuple(word, fc.boolean()), { minLength: 1, maxLength: 8 }), (words) => {
        const upstream = words.map(([content, plain]) => chunk({ content }, plain ? {} : { matched: 1 }));
        const events = decodeStream(stream(...upstream, finish('stop')));
        const anew = events.map((event) => (event.type === 'block-delta' ? { ...event, frame: undefined } : event));
        assert.deepEqual(textsOf(write(events)), textsOf(write(anew)));
        assert.equal(textsOf(write(events)).join(''), words.map(([content]) => content).join(''));
      }),
      { numRuns: 100 },
    );
  });

  test('passes members of the upstream response on once, with the next chunk', () => {
    const chunks = relay(
      chunk({ role: 'assistant', content: '' }, {}, { x_vendor: { id: 'r' }, system_fingerprint: 'fp' }),
      chunk({ content: 'a', channel: 'final' }, { logprobs: { content: [1] }, matched: 1 }),
      chunk({ content: 'b' }, {}, { system_fingerprint: 'fp' }),
      finish('stop'),
    );
    assert.deepEqual(
      chunks.map((entry) => entry['x_vendor']),
      [undefined, { id: 'r' }, undefined, undefined, undefined],
    );
    assert.ok(chunks.every((entry) => entry['system_fingerprint'] === 'fp'));
    assert.deepEqual(objectsOf(chunks[1]?.['choices'])[0], {
      index: 0,
      delta: { content: 'a', channel: 'final' },
      finish_reason: null,
      logprobs: { content: [1] },
      matched: 1,
    });
  });

  test('sends members of consecutive chunks that cannot be merged in chunks of their own', () => {
    const tool = (index: number, output?: string): JsonObject => ({
      executed_tools: [{ index, ...(output !== undefined && { output }) }],
    });
    const chunks = relay(
      chunk({ role: 'assistant', content: '' }),
      chunk(tool(0)),
      chunk(tool(0, 'four')),
      chunk(tool(1), { matched: 1 }),
      chunk({ channel: 'final' }, { matched: 1 }),
      chunk({ content: 'a', ...tool(2) }),
      chunk({}, { logprobs: { content: [1] } }),
      chunk({}, { logprobs: { content: [2] } }),
      finish('stop'),
    );
    assert.deepEqual(
      deltasOf(chunks).flatMap(({ executed_tools: tools }) => tools ?? []),
      [tool(0), tool(0, 'four'), tool(1), tool(2)].flatMap(({ executed_tools: tools }) => tools ?? []),
    );
    assert.deepEqual(textsOf(chunks).join(''), 'a');
    const choices = chunks.flatMap(({ choices: list }) => objectsOf(list));
    assert.deepEqual(
      choices.flatMap(({ logprobs }) => logprobs ?? []),
      [{ content: [1] }, { content: [2] }],
    );
    assert.equal(choices.filter(({ matched }) => matched === 1).length, 1);
  });

  test('sends members that come between two chunks of text with the second', () => {
    const chunks = relay(chunk({ content: 'a' }), { choices: [], x_late: 1 }, chunk({ content: 'b' }), finish('stop'));
    assert.deepEqual(
      chunks.map((entry) => entry['x_late']),
      [undefined, undefined, 1, undefined, undefined],
    );
  });

  // @spec chat-response-18
  test('omits metadata, prices and padding of the upstream', () => {
    const text = JSON.stringify(
      relay(
        chunk({ content: 'a' }, {}, { service_metadata: { secret: 1 }, obfuscation: 'xxxx', debug: { a: 1 } }),
        finish('stop', { usage: { prompt_tokens: 1, completion_tokens: 1, cost: 9, cost_in_usd_ticks: 9 } }),
      ),
    );
    assert.doesNotMatch(text, /secret|xxxx|debug|ticks/);
  });
});

suite('chat stream encoder: reasoning', () => {
  // @spec stream-17
  test('encodes readable reasoning as plain text and as pieces of one detail', () => {
    const signed: Block = { type: 'reasoning', form: 'text', text: '', family: 'anthropic-claude-v1' };
    const deltas = deltasOf(
      write([
        START,
        { type: 'block-start', index: 0, block: signed },
        { type: 'block-delta', index: 0, text: 'hm' },
        { type: 'block-delta', index: 0, signature: 'sig' },
        { type: 'block-end', index: 0 },
        ...block(1, { type: 'reasoning', form: 'encrypted', text: 'data', id: 'rs_1', family: 'openai-responses-v1' }),
        ...block(2, { type: 'reasoning', form: 'summary', text: '' }, 'so'),
        END,
      ]),
    );
    assert.deepEqual(deltas.slice(1, -1), [
      {
        reasoning: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0, format: 'anthropic-claude-v1' }],
      },
      { reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0, format: 'anthropic-claude-v1' }] },
      {
        reasoning_details: [
          { type: 'reasoning.encrypted', data: 'data', index: 1, format: 'openai-responses-v1', id: 'rs_1' },
        ],
      },
      {
        reasoning: 'so',
        reasoning_details: [{ type: 'reasoning.summary', summary: 'so', index: 2, format: 'unknown' }],
      },
    ]);
  });

  // @spec chat-16
  test('details of a chat upstream keep their index, id and unknown members', () => {
    const detail = { type: 'reasoning.text', text: 'a', index: 7, id: 'r', format: 'unknown', x: 1 };
    const [, delta] = deltasOf(relay(chunk({ reasoning_details: [detail] }), finish('stop')));
    assert.deepEqual(objectsOf(delta?.['reasoning_details']), [detail]);
  });

  test('writes the record of a server tool whole', () => {
    const record = { type: 'reasoning.server_tool_call', tool_name: 't', arguments: '{}', result: '{}' };
    const [, delta] = deltasOf(relay(chunk({ reasoning_details: [record] }), finish('stop')));
    assert.deepEqual(delta, { reasoning_details: [record] });
  });
});

suite('chat stream encoder: calls', () => {
  // @spec stream-16
  test('indexes count calls only, and only the first piece names the call', () => {
    const deltas = deltasOf(
      write([
        START,
        ...block(0, TEXT, 'x'),
        ...block(1, call('srv', 'web_search', 'upstream'), '{"q":1}'),
        { type: 'block-start', index: 2, block: call('a', 'f') },
        { type: 'block-start', index: 3, block: call('b', 'g') },
        { type: 'block-delta', index: 3, text: '{}' },
        { type: 'block-delta', index: 2, text: '{"x":' },
        { type: 'block-delta', index: 2, text: '1}' },
        { type: 'block-end', index: 2 },
        { type: 'block-end', index: 3 },
        { type: 'end', finish: 'tool_calls' },
      ]),
    );
    assert.deepEqual(
      deltas.slice(2, -1).map(({ tool_calls: calls }) => objectsOf(calls)[0]),
      [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
        { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
        { index: 1, function: { arguments: '{}' } },
        { index: 0, function: { arguments: '{"x":' } },
        { index: 0, function: { arguments: '1}' } },
      ],
    );
    assert.doesNotMatch(JSON.stringify(deltas), /web_search|srv/);
  });

  test('encodes a call without arguments with the empty object', () => {
    const deltas = deltasOf(write([START, ...block(0, call('a', 'f')), ...block(1, call('b', 'g'), '{"x":1}'), END]));
    const inputs = deltas.flatMap(({ tool_calls: calls }) => objectsOf(calls).map((entry) => entry['function']));
    assert.deepEqual(inputs, [
      { name: 'f', arguments: '' },
      { arguments: '{}' },
      { name: 'g', arguments: '' },
      { arguments: '{"x":1}' },
    ]);
  });

  test('unknown members of a call pass with the piece that brought them', () => {
    const first = {
      index: 0,
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{' },
      extra_content: { s: 1 },
    };
    const later = { index: 0, function: { arguments: '}', x: 1 } };
    const deltas = deltasOf(relay(chunk({ tool_calls: [first] }), chunk({ tool_calls: [later] }), finish('stop')));
    assert.deepEqual(
      deltas.slice(1, -1).map(({ tool_calls: calls }) => objectsOf(calls)[0]),
      [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' }, extra_content: { s: 1 } },
        { index: 0, function: { arguments: '{' } },
        { index: 0, function: { arguments: '}', x: 1 } },
      ],
    );
  });
});

suite('chat stream encoder: other content', () => {
  test('citations are annotations, with the place of their text where they name none', () => {
    const deltas = deltasOf(
      write([
        START,
        ...block(0, TEXT, '12345'),
        { type: 'block-start', index: 1, block: TEXT },
        { type: 'block-delta', index: 1, text: '678' },
        { type: 'citation', index: 1, citation: { type: 'url', url: 'https://a' } },
        {
          type: 'citation',
          index: 1,
          citation: { type: 'opaque', format: 'messages', value: { type: 'page_location' } },
        },
        { type: 'block-end', index: 1 },
        { type: 'citation', index: -1, citation: { type: 'url', url: 'https://b', title: 'B', start: 1, end: 2 } },
        END,
      ]),
    );
    assert.deepEqual(
      deltas.flatMap(({ annotations }) => objectsOf(annotations).map((entry) => entry['url_citation'])),
      [
        { url: 'https://a', title: 'https://a', start_index: 5, end_index: 8 },
        { url: 'https://b', title: 'B', start_index: 1, end_index: 2 },
      ],
    );
  });

  // @spec translate-27
  test('pictures, audio and refusals pass', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' }, index: 0 };
    const deltas = deltasOf(
      relay(
        chunk({ images: [image] }),
        chunk({ audio: { id: 'au', transcript: 'Hi' } }),
        chunk({ audio: { data: 'AAAA', transcript: '!' } }),
        chunk({ refusal: 'no' }),
        finish('stop'),
      ),
    );
    assert.deepEqual(deltas.slice(1, -1), [
      { images: [image] },
      { audio: { id: 'au', transcript: 'Hi' } },
      { audio: { data: 'AAAA', transcript: '!' } },
      { refusal: 'no' },
    ]);
  });

  test('writes an image that came in pieces once, whole', () => {
    const picture: Block = {
      type: 'media',
      media: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: '' },
    };
    const deltas = deltasOf(write([START, ...block(0, picture, 'AA', 'BB'), END]));
    assert.deepEqual(deltas[1], {
      images: [{ image_url: { url: 'data:image/png;base64,AABB' }, type: 'image_url' }],
    });
  });

  test('separates texts with something between them, but not pieces of one text', () => {
    const events = [
      START,
      ...block(0, TEXT, 'I look.'),
      ...block(1, call('srv', 'web_search', 'upstream'), '{}'),
      ...block(2, TEXT, 'It ', 'is '),
      ...block(3, TEXT, 'blue.'),
      END,
    ];
    const whole = parseJson(encodeWhole(foldEvents(events), IDENTITY, FINAL_USAGE));
    const [choice] = objectsOf(objectOf(whole)?.['choices']);
    assert.equal(objectOf(choice?.['message'])?.['content'], 'I look.\n\nIt is blue.');
    assert.equal(textsOf(write(events)).join(''), 'I look.\n\nIt is blue.');
    assert.equal(
      textsOf(relay(chunk({ content: 'a' }), chunk({ refusal: 'n' }), chunk({ content: 'b' }), finish('stop'))).join(
        '',
      ),
      'ab',
    );
  });

  test('omits blocks that only another format can express', () => {
    const opaque: Block = { type: 'opaque', format: 'messages', value: { type: 'container_upload' } };
    assert.deepEqual(
      deltasOf(
        write([START, ...block(0, opaque), ...block(1, { type: 'tool-result', callId: 'a', content: [] }), END]),
      ),
      [{ role: 'assistant', content: '' }, { content: '' }],
    );
  });
});

suite('chat stream encoder: failure', () => {
  const error = new GatewayError('provider_unavailable', 'The connection to the provider broke.', {
    metadata: { provider_code: 'x' },
  });

  // @spec stream-20
  test('is one chunk that ends the choice, then the sentinel', () => {
    const encoder = new ChatStreamEncoder(IDENTITY);
    const chunks = readStream(
      encoder.encode([
        START,
        { type: 'block-start', index: 0, block: TEXT },
        { type: 'block-delta', index: 0, text: 'par' },
      ]) + encoder.fail(error, FINAL_USAGE, { ...CONTEXT, serviceMetadata: { requested: 'r' } }),
    );
    const last = chunks.at(-1);
    assert.deepEqual(last?.['error'], {
      code: 502,
      message: 'The connection to the provider broke.',
      metadata: { error_type: 'provider_unavailable', provider_code: 'x' },
    });
    assert.deepEqual(last?.['choices'], [
      { index: 0, delta: { content: '' }, finish_reason: 'error', native_finish_reason: null },
    ]);
    assert.deepEqual(last?.['service_metadata'], { requested: 'r' });
    assert.equal(objectOf(last?.['usage'])?.['completion_tokens'], 9);
    assert.equal(last?.['id'], 'gen-1');
    assert.equal('user_id' in last, false);
  });

  test('names the role before any content, and has no usage when nothing is known of it', () => {
    const [only, ...others] = readStream(new ChatStreamEncoder(IDENTITY).fail(error, undefined, CONTEXT));
    assert.deepEqual(others, []);
    assert.deepEqual(objectsOf(only?.['choices'])[0]?.['delta'], { role: 'assistant', content: '' });
    assert.equal('usage' in (only ?? {}), false);
  });

  // @spec stream-21
  test('has only the generic message when it is our own', () => {
    const ours = new GatewayError('server', 'secret path /etc/x', { metadata: { provider_code: 'y' } });
    const text = new ChatStreamEncoder(IDENTITY).fail(ours, undefined, { ...CONTEXT, serviceMetadata: { a: 1 } });
    assert.doesNotMatch(text, /secret|provider_code|service_metadata/);
  });
});

suite('chat stream encoder: debug', () => {
  // @spec stream-12
  test('shows the upstream body without secrets and long base64', () => {
    const long = 'A'.repeat(300);
    const text = new ChatStreamEncoder(IDENTITY).debug('Inner', {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${long}` } }] },
        { role: 'user', content: 'my key is sk-abcdefghijklmnop and Bearer abc.def' },
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: long, format: 'wav' } }] },
      ],
      authorization: 'x',
    });
    const shown = objectOf(parseJson(text.slice('data: '.length)));
    assert.deepEqual([shown?.['provider'], shown?.['choices'], shown?.['id']], ['Inner', [], 'gen-1']);
    assert.match(text, /"url":"data:image\/png;base64,\[300 characters of base64\]"/);
    assert.match(text, /"echo_upstream_body":\{"model":"m"/);
    assert.doesNotMatch(text, /AAAAAAAA|sk-abc|abc\.def|"authorization":"x"/);
    assert.ok(text.endsWith('\n\n'));
  });

  test('prose of any length is shown in full', () => {
    const prose = 'word '.repeat(100);
    assert.ok(new ChatStreamEncoder(IDENTITY).debug('P', { messages: [{ content: prose }] }).includes(prose));
  });
});

test('relays a response that decodes to the same response', () => {
  const words = fc.oneof(
    fc.record({ content: fc.string({ minLength: 1, maxLength: 4 }) }),
    fc.record({ reasoning: fc.string({ minLength: 1, maxLength: 4 }) }),
    fc.record({ refusal: fc.string({ minLength: 1, maxLength: 4 }) }),
    fc.nat(1).map((index) => ({
      tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: `f${index}`, arguments: '{}' } }],
    })),
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 10 }), (deltas) => {
      const upstream = [...deltas.map((delta) => chunk(delta)), finish('stop')];
      const came = foldStream(...upstream);
      const went = foldStream(...relay(...upstream));
      assert.deepEqual(went.blocks.map(emitBlock), came.blocks.map(emitBlock));
      assert.equal(went.end?.finish, came.end?.finish);
    }),
    { numRuns: 100 },
  );
});
