import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../lib/json.ts';
import { startSandbox, type Sandbox, type SandboxRequest } from './server.ts';
import { at, eventsOf, post, textAt, type TestAnswer } from '../../tests/support/providers/sandbox-client.ts';

let sandbox: Sandbox;
let seen: SandboxRequest[] = [];

before(async () => {
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    clock: { nowMs: () => 1_800_000_000_999, monotonicMs: () => 0 },
    onRequest: (request) => seen.push(request),
  });
});
after(() => sandbox.close());

const VERSION = { 'anthropic-version': '2023-06-01' };

function chat(members: JsonObject, headers: Readonly<Record<string, string>> = {}): Promise<TestAnswer> {
  const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello, world' }], ...members };
  return post(sandbox.baseUrl, '/chat/completions', body, headers);
}

function messages(members: JsonObject, headers: Readonly<Record<string, string>> = {}): Promise<TestAnswer> {
  const body = { model: 'echo', max_tokens: 2_000, messages: [{ role: 'user', content: 'Hello, world' }], ...members };
  return post(sandbox.baseUrl, '/messages', body, { ...VERSION, ...headers });
}

const user = (content: Json): Json => [{ role: 'user', content }];

test("accepts the gateway's name of a model, too", async () => {
  assert.equal((await chat({ model: 'sandbox/echo' })).status, 200);
  assert.equal((await messages({ model: 'sandbox/error-503' })).status, 503);
  assert.equal((await chat({ model: 'other/echo' })).status, 404);
});

test('sends every member of the format in a whole chat response', async () => {
  const { status, headers, json } = await chat({});
  assert.equal(status, 200);
  const id = textAt(json, 'id');
  assert.match(id, /^chatcmpl-[0-9a-f]{24}$/);
  assert.equal(headers.get('x-request-id'), `req_${id.slice('chatcmpl-'.length)}`);
  assert.deepEqual(json, {
    id,
    object: 'chat.completion',
    created: 1_800_000_000,
    model: 'echo',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello, world', refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 4,
      completion_tokens: 4,
      total_tokens: 8,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  });
});

test('sends every member of the format in a whole messages response', async () => {
  const { status, headers, json } = await messages({});
  assert.equal(status, 200);
  const id = textAt(json, 'id');
  assert.match(id, /^msg_[0-9a-f]{24}$/);
  assert.equal(headers.get('request-id'), `req_${id.slice('msg_'.length)}`);
  assert.deepEqual(json, {
    id,
    type: 'message',
    role: 'assistant',
    model: 'echo',
    content: [{ type: 'text', text: 'Hello, world', citations: null }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: {
      input_tokens: 4,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { thinking_tokens: 0 },
      server_tool_use: null,
      service_tier: 'standard',
      inference_geo: null,
    },
  });
});

test('sends a chat stream, frame by frame', async () => {
  const { headers, text } = await chat({ stream: true, stream_options: { include_usage: true } });
  assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.ok(text.endsWith('\n\ndata: [DONE]\n\n'));
  const chunks = eventsOf(text)
    .map(({ data }) => data)
    .filter(isJsonObject);
  assert.equal(
    new Set(chunks.map(({ id, object, created, model }) => JSON.stringify([id, object, created, model]))).size,
    1,
  );
  assert.equal(chunks[0]?.['object'], 'chat.completion.chunk');
  const deltas = chunks.map((chunk) => at(chunk, 'choices.0.delta'));
  assert.deepEqual(deltas, [
    { role: 'assistant', content: '', refusal: null },
    { content: 'Hell' },
    { content: 'o,' },
    { content: ' worl' },
    { content: 'd' },
    {},
    undefined,
  ]);
  assert.deepEqual(
    chunks.map((chunk) => at(chunk, 'choices.0.finish_reason')),
    [null, null, null, null, null, 'stop', undefined],
  );
  assert.deepEqual(
    chunks.slice(0, -1).map(({ usage }) => usage),
    [null, null, null, null, null, null],
  );
  assert.deepEqual(chunks.at(-1)?.['choices'], []);
  assert.equal(at(chunks.at(-1), 'usage.total_tokens'), 8);
});

test('streams no usage unless it is requested', async () => {
  const { text } = await chat({ stream: true });
  assert.ok(!text.includes('usage'));
  assert.ok(text.endsWith('data: [DONE]\n\n'));
});

test('sends a messages stream, frame by frame', async () => {
  const { text } = await messages({ stream: true });
  const named = eventsOf(text);
  for (const { name, data } of named) assert.equal(name, textAt(data, 'type'));
  const events = named.map(({ data }) => data);
  const [start] = events;
  assert.deepEqual(
    [at(start, 'message.content'), at(start, 'message.stop_reason'), at(start, 'message.usage.output_tokens')],
    [[], null, 1],
  );
  assert.deepEqual(events.slice(1), [
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
    ...['Hell', 'o,', ' worl', 'd'].map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 4,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 4,
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: null,
      },
    },
    { type: 'message_stop' },
  ]);
});

test('sends the same bytes for the same request', async () => {
  assert.equal((await chat({ stream: true })).text, (await chat({ stream: true })).text);
  assert.notEqual((await chat({})).json['id'], (await chat({ seed: 1 })).json['id']);
});

test('ends a response at stop sequences and limits, whichever comes first', async () => {
  for (const [members, content, finish, stopReason, sequence] of [
    [{ stop: ['world', 'o,'] }, 'Hell', 'stop', 'stop_sequence', 'o,'],
    [{ max_tokens: 2 }, 'Hello,', 'length', 'max_tokens', null],
    [{ max_tokens: 2, stop: ['o'] }, 'Hell', 'stop', 'stop_sequence', 'o'],
    [{ max_tokens: 2, stop: ['world'] }, 'Hello,', 'length', 'max_tokens', null],
    [{ max_tokens: 4 }, 'Hello, world', 'stop', 'end_turn', null],
  ] as const) {
    const inChat = (await chat(members)).json;
    assert.deepEqual(
      [at(inChat, 'choices.0.message.content'), at(inChat, 'choices.0.finish_reason')],
      [content, finish],
    );
    const stop: readonly string[] = 'stop' in members ? members.stop : [];
    const limit = 'max_tokens' in members ? members.max_tokens : 100;
    const { json } = await messages({ max_tokens: limit, stop_sequences: stop });
    assert.deepEqual(
      [at(json, 'content.0.text'), json['stop_reason'], json['stop_sequence']],
      [content, stopReason, sequence],
    );
  }
});

test('counts as far as requested', async () => {
  const content = at(
    (await chat({ model: 'long', messages: user('tokens=12 every=0') })).json,
    'choices.0.message.content',
  );
  assert.equal(content, '1 2 3 4 5 6 7 8 9 10 11 12');
  const { json } = await chat({ model: 'long', messages: user('tokens=999999999 every=0') });
  assert.equal(at(json, 'usage.completion_tokens'), 9_999);
});

test('delivers all of a long response to a slow reader', async () => {
  const { text } = await messages({
    model: 'long',
    max_tokens: 60_000,
    stream: true,
    messages: user('tokens=9999 every=0'),
  });
  assert.equal(text.split('"text_delta"').length - 1, 9_999);
  assert.ok(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n'));
});

test('follows the requested schema in both formats', async () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, rank: { type: 'integer', minimum: 3 } },
    required: ['city', 'rank'],
  };
  const expected = { city: 'city', rank: 3 };
  const requested = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };
  const inChat = await chat({ model: 'json', response_format: requested });
  assert.deepEqual(parseJson(textAt(inChat.json, 'choices.0.message.content')), expected);
  const inMessages = await messages({ model: 'json', output_config: { format: { type: 'json_schema', schema } } });
  assert.deepEqual(parseJson(textAt(inMessages.json, 'content.0.text')), expected);
  const free = await chat({ model: 'json', response_format: { type: 'json_object' } });
  assert.deepEqual(parseJson(textAt(free.json, 'choices.0.message.content')), { text: 'Hello, world' });
});

const GET = {
  type: 'function',
  function: { name: 'get', parameters: { type: 'object', properties: { id: { type: 'integer' } } } },
};
const PUT = { type: 'function', function: { name: 'put' } };

async function chatCalls(members: JsonObject): Promise<readonly (Json | undefined)[]> {
  const { json } = await chat({ model: 'tools', tools: [GET, PUT], ...members });
  const calls = at(json, 'choices.0.message.tool_calls');
  return Array.isArray(calls) ? calls.map((call: Json) => at(call, 'function.name')) : [];
}

test('tools calls the first function, or all of them in parallel', async () => {
  assert.deepEqual(await chatCalls({}), ['get']);
  assert.deepEqual(await chatCalls({ messages: user('in parallel please') }), ['get', 'put']);
  assert.deepEqual(await chatCalls({ messages: user('in parallel please'), parallel_tool_calls: false }), ['get']);
});

test('honours a tool choice with every model', async () => {
  assert.deepEqual(await chatCalls({ tool_choice: { type: 'function', function: { name: 'put' } } }), ['put']);
  assert.deepEqual(await chatCalls({ tool_choice: 'none' }), []);
  assert.deepEqual(await chatCalls({ model: 'echo' }), []);
  assert.deepEqual(await chatCalls({ model: 'echo', tool_choice: 'required' }), ['get']);
});

test('sends thinking and calls in one messages response', async () => {
  const tools = [{ name: 'get', input_schema: { type: 'object' } }];
  const { json } = await messages({ model: 'tools', tools, thinking: { type: 'enabled', budget_tokens: 1_024 } });
  assert.deepEqual(
    [at(json, 'content.0.type'), at(json, 'content.1.type'), json['stop_reason']],
    ['thinking', 'tool_use', 'tool_use'],
  );
});

test('turns reasoning off, hides it, or cuts it at the limit', async () => {
  assert.equal(at((await chat({ model: 'reasoning', reasoning_effort: 'none' })).json, 'usage.completion_tokens'), 4);
  const hidden = (await messages({ model: 'reasoning', thinking: { type: 'adaptive', display: 'omitted' } })).json;
  assert.equal(at(hidden, 'content.0.thinking'), '');
  assert.match(textAt(hidden, 'content.0.signature'), /^[A-Za-z0-9+/=]{40,}$/);
  const cut = (await messages({ model: 'reasoning', max_tokens: 3 })).json;
  assert.deepEqual(
    [at(cut, 'content.0.thinking'), at(cut, 'content.1'), cut['stop_reason']],
    ['The user wrot', undefined, 'max_tokens'],
  );
  assert.deepEqual([at(cut, 'usage.output_tokens'), at(cut, 'usage.output_tokens_details.thinking_tokens')], [3, 3]);
});

test('writes a marked prompt to the cache once and reads it afterwards, in both formats', async () => {
  const marked = { type: 'text', text: 'a long instruction', cache_control: { type: 'ephemeral' } };
  const inChat: unknown[] = [];
  const inMessages: unknown[] = [];
  for (let call = 0; call < 3; call++) {
    const turns = [
      { role: 'system', content: [marked] },
      { role: 'user', content: `call ${call}` },
    ];
    const { usage } = (await chat({ messages: turns })).json;
    const details = at(usage, 'prompt_tokens_details');
    inChat.push([at(usage, 'prompt_tokens'), at(details, 'cache_write_tokens'), at(details, 'cached_tokens')]);
  }
  for (let call = 0; call < 3; call++) {
    const { usage } = (await messages({ system: [marked], messages: user(`call ${call}`) })).json;
    const written = at(usage, 'cache_creation_input_tokens');
    inMessages.push([at(usage, 'input_tokens'), written, at(usage, 'cache_read_input_tokens')]);
  }
  assert.deepEqual(inChat, [
    [7, 5, 0],
    [7, 0, 5],
    [7, 0, 5],
  ]);
  assert.deepEqual(inMessages, [
    [2, 5, 0],
    [2, 0, 5],
    [2, 0, 5],
  ]);
  const otherKey = await messages({ system: [marked], messages: user('call 4') }, { 'x-api-key': 'another' });
  assert.equal(at(otherKey.json, 'usage.cache_read_input_tokens'), 0);
});

test('sends each status with the body of its format', async () => {
  for (const [status, chatType, chatCode, messagesType] of [
    [400, 'invalid_request_error', null, 'invalid_request_error'],
    [401, 'invalid_request_error', 'invalid_api_key', 'authentication_error'],
    [402, 'insufficient_balance', 'insufficient_balance', 'billing_error'],
    [403, 'invalid_request_error', null, 'permission_error'],
    [404, 'invalid_request_error', 'model_not_found', 'not_found_error'],
    [413, 'invalid_request_error', null, 'request_too_large'],
    [418, 'invalid_request_error', null, 'invalid_request_error'],
    [429, 'requests', 'rate_limit_exceeded', 'rate_limit_error'],
    [500, 'server_error', null, 'api_error'],
    [503, 'server_error', null, 'api_error'],
    [529, 'server_error', null, 'overloaded_error'],
    [599, 'server_error', null, 'api_error'],
  ] as const) {
    const inChat = await chat({ model: `error-${status}`, stream: true });
    assert.deepEqual(
      [inChat.status, at(inChat.json, 'error.type'), at(inChat.json, 'error.code')],
      [status, chatType, chatCode],
    );
    const inMessages = await messages({ model: `error-${status}` });
    assert.deepEqual(
      [inMessages.status, inMessages.json['type'], at(inMessages.json, 'error.type')],
      [status, 'error', messagesType],
    );
    assert.match(textAt(inMessages.json, 'request_id'), /^req_/);
    const retryAfter = [429, 503, 529].includes(status) ? '1' : null;
    assert.deepEqual(
      [inChat.headers.get('retry-after'), inMessages.headers.get('retry-after')],
      [retryAfter, retryAfter],
    );
  }
});

test('fails a stream in the middle', async () => {
  const content = 'one two three four after=2';
  const inChat = await chat({ model: 'error-529', stream: true, messages: user(content) });
  assert.equal(inChat.status, 200);
  const [, first, second, failure, rest] = inChat.text.split('\n\n');
  assert.match(String(first), /"content":"one"/);
  assert.match(String(second), /"content":" two"/);
  assert.match(String(failure), /^data: \{"error":\{"message":"The engine is currently overloaded/);
  assert.equal(rest, '');
  const inMessages = await messages({ model: 'error-529', stream: true, messages: user(content) });
  assert.ok(inMessages.text.includes('event: error\ndata: {"type":"error","error":{"type":"overloaded_error"'));
  assert.ok(!inMessages.text.includes('message_stop'));
});

test('counts the tokens that a response would be charged for', async () => {
  const body = { model: 'echo', system: 'be brief', messages: user('Hello, world') };
  const { json } = await post(sandbox.baseUrl, '/messages/count_tokens', body, VERSION);
  assert.deepEqual(json, { input_tokens: 7 });
});

async function getModels(headers: Readonly<Record<string, string>>): Promise<Json | undefined> {
  const response = await fetch(`${sandbox.baseUrl}/models`, { headers });
  return parseJson(await response.text());
}

test('lists models in the shape of the requesting format', async () => {
  const inChat = await getModels({});
  assert.equal(at(inChat, 'object'), 'list');
  assert.equal(at(inChat, 'data.0.id'), 'echo');
  const inMessages = await getModels(VERSION);
  assert.equal(at(inMessages, 'data.0.type'), 'model');
  assert.equal(at(inMessages, 'has_more'), false);
});

test('answers an invalid request with an error of the format', async () => {
  for (const [path, body, status, words] of [
    ['/chat/completions', 'not json', 400, 'could not parse the JSON body'],
    ['/chat/completions', '[]', 400, 'could not parse the JSON body'],
    ['/chat/completions', '', 400, 'could not parse the JSON body'],
    ['/messages', '{', 400, 'not valid JSON'],
    ['/completions', '{}', 404, 'Invalid URL (POST /v1/completions)'],
    ['/messages/batches', '{}', 404, 'Invalid URL'],
    ['/../etc', '{}', 404, 'Invalid URL'],
  ] as const) {
    const answer = await post(sandbox.baseUrl, path, body, VERSION);
    assert.equal(answer.status, status, path);
    assert.ok(textAt(answer.json, 'error.message').includes(words), answer.text);
  }
  assert.equal((await fetch(`${sandbox.baseUrl}/chat/completions`)).status, 404);
});

test('requires the version of the messages format', async () => {
  const { status, json } = await post(sandbox.baseUrl, '/messages', {
    model: 'echo',
    max_tokens: 1,
    messages: user('x'),
  });
  assert.deepEqual([status, at(json, 'error.message')], [400, 'anthropic-version: header is required']);
});

test('is strict with a header', async () => {
  const strict = { 'x-sandbox-strict': '1' };
  assert.equal((await messages({ plugins: [] })).status, 200);
  assert.equal(
    at((await messages({ plugins: [] }, strict)).json, 'error.message'),
    'plugins: Extra inputs are not permitted',
  );
  assert.equal(at((await chat({ models: [] }, strict)).json, 'error.param'), 'models');
});

test('refuses a body over the limit while it is still arriving', async () => {
  const { hostname, port } = new URL(sandbox.baseUrl);
  const status = await new Promise((resolve, reject) => {
    const call = httpRequest({ hostname, port, path: '/v1/chat/completions', method: 'POST' }, (response) => {
      resolve(response.statusCode);
      call.destroy();
    });
    call.once('error', reject);
    const megabyte = Buffer.alloc(1_024 * 1_024, 32);
    let sent = 0;
    const send = (): void => {
      while (sent++ < 65) if (!call.write(megabyte)) return void call.once('drain', send);
    };
    send();
  });
  assert.equal(status, 413);
});

test('shows a test what was sent', async () => {
  seen = [];
  await chat({ seed: 7 }, { authorization: 'Bearer k' });
  assert.equal(seen.length, 1);
  assert.equal(seen[0]?.path, '/v1/chat/completions');
  assert.equal(seen[0]?.headers['authorization'], 'Bearer k');
  assert.equal(at(seen[0]?.body, 'seed'), 7);
});

test('reports a port that is taken as an error', async () => {
  const port = Number(new URL(sandbox.baseUrl).port);
  await assert.rejects(startSandbox({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
});
