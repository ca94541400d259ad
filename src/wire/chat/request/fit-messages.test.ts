import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Dialect, EncodedRequest, EncodeTarget } from '../../format.ts';
import { objectsOf } from '../../json-fields.ts';
import { decode as decodeMessages } from '../../../../tests/support/wire/messages/request.ts';
import { encodeRequest } from './request-out.ts';
import { decodeChat, PLAIN_TARGET } from '../../../../tests/support/wire/chat/request.ts';

const USER: Json = { role: 'user', content: 'hi' };
const image: Json = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const text = (words: string): Json => ({ type: 'text', text: words });

function call(id: string, more: Record<string, Json> = {}): Json {
  return { id, type: 'function', function: { name: 'look', arguments: '{}' }, ...more };
}

function result(id: string, content: Json = 'seen'): Json {
  return { role: 'tool', tool_call_id: id, content };
}

function encode(messages: readonly Json[], dialect: Dialect, members: Record<string, Json> = {}): EncodedRequest {
  const target: EncodeTarget = { ...PLAIN_TARGET, dialect };
  return encodeRequest(decodeChat({ messages: [...messages], ...members }), target);
}

function sent(messages: readonly Json[], dialect: Dialect): readonly JsonObject[] {
  return objectsOf(encode(messages, dialect).body['messages']);
}

const warned = (encoded: EncodedRequest): readonly string[] =>
  encoded.warnings.map(({ code, path }) => `${code} ${path}`);

suite('a host that takes plain messages only', () => {
  const plain: Dialect = { plainMessages: true };

  test('files of results follow in a user message behind all of them', () => {
    const messages = [
      USER,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      result('a', [text('this'), image]),
      result('b', [image]),
      { role: 'user', content: 'well?' },
    ];
    const encoded = encode(messages, plain);
    assert.deepEqual(objectsOf(encoded.body['messages']).slice(2), [
      result('a', [text('this')]),
      result('b', [text('The result is in the user message that follows.')]),
      {
        role: 'user',
        content: [text('Files of the result of look (a):'), image, text('Files of the result of look (b):'), image],
      },
      { role: 'user', content: 'well?' },
    ]);
    assert.deepEqual(warned(encoded), ['field-changed messages[2].content', 'field-changed messages[3].content']);
    assert.deepEqual(sent(messages.slice(0, -1), plain), objectsOf(encoded.body['messages']).slice(0, -1));
  });

  // @spec chat-20
  test('drops images, sources, signatures and sounds of other vendors, but not a reference to a sound', () => {
    const url = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 };
    const assistant = {
      role: 'assistant',
      content: 'so',
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      annotations: [{ type: 'url_citation', url_citation: url }],
      audio: { id: 'audio_1', data: 'AAAA', transcript: 'so' },
      tool_calls: [call('a', { extra_content: { google: { thought_signature: 's' } } })],
    };
    const encoded = encode([USER, assistant, result('a')], plain);
    assert.deepEqual(objectsOf(encoded.body['messages'])[1], {
      role: 'assistant',
      content: 'so',
      audio: { id: 'audio_1' },
      tool_calls: [call('a')],
    });
    assert.deepEqual(warned(encoded), [
      'content-dropped messages[1].annotations',
      'content-dropped messages[1].images',
      'field-dropped messages[1].tool_calls[0].extra_content',
    ]);
    const { audio: _audio, ...others } = assistant;
    const sound = { ...others, audio: { data: 'AAAA', transcript: 'so' } };
    assert.equal(sent([USER, sound, result('a')], plain)[1]?.['audio'], undefined);
  });

  test('sends messages of a caller of the format as they are elsewhere', () => {
    const messages = [
      USER,
      { role: 'assistant', content: null, tool_calls: [call('a', { extra_content: { x: 1 } })] },
      result('a', [text('this'), image]),
    ];
    assert.deepEqual(sent(messages, {}), messages);
  });

  test('gets the readable part of detailed reasoning once', () => {
    const details = [
      { type: 'reasoning.text', text: 'mine', format: 'Own-v1', id: 'reasoning-text-1', index: 0 },
      { type: 'reasoning.text', text: 'theirs', signature: 's', format: 'anthropic-claude-v1', index: 1 },
      { type: 'reasoning.summary', summary: 'short', format: 'openai-responses-v1', index: 2 },
      { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1', index: 3 },
    ];
    const assistant = { role: 'assistant', content: 'so', reasoning: 'mine', reasoning_details: details };
    const encoded = encode([USER, assistant, USER], { ...plain, reasoningMember: 'reasoning_details' });
    assert.deepEqual(objectsOf(encoded.body['messages'])[1], {
      role: 'assistant',
      content: 'so',
      reasoning_details: [
        { type: 'reasoning.text', text: 'mine', id: 'reasoning-text-1', format: 'Own-v1', index: 0 },
        { type: 'reasoning.summary', summary: 'short', index: 2 },
      ],
    });
    assert.deepEqual(warned(encoded), ['content-dropped messages[1].reasoning_details']);
  });
});

suite('ids of calls', () => {
  const ids = (messages: readonly JsonObject[]): readonly unknown[] =>
    messages.flatMap(({ tool_call_id: id, tool_calls: calls }) => [
      ...objectsOf(calls).map((entry) => entry['id']),
      ...(id === undefined ? [] : [id]),
    ]);

  test('sends ids of nine letters or digits to a host that takes only those, the same in each request', () => {
    const history = [
      { role: 'assistant', content: null, tool_calls: [call('toolu_01A'), call('a1B2c3D4e')] },
      result('toolu_01A'),
      result('a1B2c3D4e'),
    ];
    const first = ids(sent([USER, ...history], { callIds: 'nine' }));
    assert.match(String(first[0]), /^[a-zA-Z0-9]{9}$/);
    assert.deepEqual(first, [first[0], 'a1B2c3D4e', first[0], 'a1B2c3D4e']);
    assert.deepEqual(ids(sent([USER, ...history, USER], { callIds: 'nine' })), first);
  });

  test('shortens ids for a host that takes up to forty characters', () => {
    const long = `functions.mcp__plugin_with_a_long_name__look:0`;
    const history = [{ role: 'assistant', content: null, tool_calls: [call(long), call('call_1')] }, result(long)];
    const [first, second, third] = ids(sent([USER, ...history, result('call_1')], { callIds: 'forty' }));
    assert.match(String(first), /^call_[0-9a-f]{32}$/);
    assert.deepEqual([second, third], ['call_1', first]);
  });
});

suite('the order of messages', () => {
  test('puts a reply between results and the user for a host that demands one', () => {
    const history = [USER, { role: 'assistant', content: null, tool_calls: [call('a')] }, result('a')];
    const encoded = encode([...history, USER], { repliesToResults: true });
    assert.deepEqual(
      objectsOf(encoded.body['messages']).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user'],
    );
    assert.deepEqual(warned(encoded), ['field-changed messages']);
    assert.deepEqual(sent(history, { repliesToResults: true }), history);
  });

  test('gets a reply also before the text that a messages caller puts right behind results', () => {
    const request = decodeMessages({
      model: 'm',
      max_tokens: 9,
      messages: [
        USER,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' },
            { type: 'text', text: 'well?' },
          ],
        },
      ],
    });
    const { body } = encodeRequest(request, { ...PLAIN_TARGET, dialect: { repliesToResults: true, callIds: 'nine' } });
    assert.deepEqual(
      objectsOf(body['messages']).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user'],
    );
  });

  test('marks the beginning of a response, and no other message, where a host wants that', () => {
    const begun = { role: 'assistant', content: 'So' };
    assert.deepEqual(sent([USER, begun, USER, begun], { prefixMember: true }), [
      USER,
      begun,
      USER,
      { ...begun, prefix: true },
    ]);
    const called = { role: 'assistant', content: null, tool_calls: [call('a')] };
    assert.deepEqual(sent([USER, called], { prefixMember: true })[1], called);
  });
});

test('omits a turn that held nothing but thinking of another vendor', () => {
  const request = decodeMessages({
    model: 'm',
    max_tokens: 9,
    messages: [
      USER,
      { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 'claudes' }] },
      { role: 'user', content: 'well?' },
    ],
  });
  const encoded = encodeRequest(request, { ...PLAIN_TARGET, dialect: {} });
  assert.deepEqual(
    objectsOf(encoded.body['messages']).map(({ role }) => role),
    ['user', 'user'],
  );
  const empty = { role: 'assistant', content: '' };
  assert.deepEqual(sent([USER, empty], {}), [USER, empty]);
});

suite('a host that wants to see reasoning in every turn', () => {
  const host: Dialect = { reasoningMember: 'reasoning_content', reasoningFiller: ' ', plainMessages: true };

  test('gets a filler where a turn has no reasoning, and existing reasoning unchanged', () => {
    const history = [
      USER,
      { role: 'assistant', content: null, reasoning_content: 'I look.', tool_calls: [call('a')] },
      result('a'),
      { role: 'assistant', content: 'so', reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
      USER,
      { role: 'assistant', content: null, tool_calls: [call('b')] },
      result('b'),
    ];
    assert.deepEqual(
      sent(history, host).map(({ reasoning_content: reasoning }) => reasoning),
      [undefined, 'I look.', undefined, ' ', undefined, ' ', undefined],
    );
  });

  test('does not get a turn for the sake of it', () => {
    const request = decodeMessages({
      model: 'm',
      max_tokens: 9,
      messages: [USER, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 's' }] }, USER],
    });
    const { body } = encodeRequest(request, { ...PLAIN_TARGET, dialect: host });
    assert.equal(objectsOf(body['messages']).length, 2);
  });
});

suite('a host that knows JSON but no schemas', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const members = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } } };
  const system: Json = { role: 'system', content: 'Be brief.' };

  // @spec translate-23
  test('gets a request for JSON, and the schema as text after the instructions of the caller', () => {
    const encoded = encode([system, USER], { jsonSchema: false }, members);
    assert.deepEqual(encoded.body['response_format'], { type: 'json_object' });
    const [first, second, third] = objectsOf(encoded.body['messages']);
    assert.deepEqual([first, third], [system, USER]);
    assert.equal(second?.['role'], 'system');
    assert.ok(JSON.stringify(second?.['content']).includes(JSON.stringify(JSON.stringify(schema)).slice(1, -1)));
    assert.deepEqual(warned(encoded), ['field-changed response_format']);
  });

  test('gets no schema where JSON alone is requested, nor where its list lacks the parameter', () => {
    const json = encode([USER], { jsonSchema: false }, { response_format: { type: 'json_object' } });
    assert.deepEqual(objectsOf(json.body['messages']), [USER]);
    const target: EncodeTarget = {
      ...PLAIN_TARGET,
      dialect: { jsonSchema: false },
      supportedParameters: new Set(['seed']),
    };
    const { body } = encodeRequest(decodeChat({ messages: [USER], ...members }), target);
    assert.deepEqual([body['messages'], body['response_format']], [[USER], undefined]);
  });
});

test('sends a seed under the name of the host, where its list has seeds', () => {
  const { body } = encode([USER], { seedMember: 'random_seed' }, { seed: 7 });
  assert.deepEqual([body['random_seed'], body['seed']], [7, undefined]);
  const target: EncodeTarget = {
    ...PLAIN_TARGET,
    dialect: { seedMember: 'random_seed' },
    supportedParameters: new Set(),
  };
  assert.equal(encodeRequest(decodeChat({ messages: [USER], seed: 7 }), target).body['random_seed'], undefined);
});
