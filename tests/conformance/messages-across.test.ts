import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { chatAnswer, chatChunk, json, sse, stream } from '../support/upstream.ts';

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_calls?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly tool_choice?: unknown;
}

interface Refusal {
  readonly type: string;
  readonly error: {
    readonly type: string;
    readonly metadata: { readonly issues?: readonly { readonly path: string }[] };
  };
}

const ask = { model: 'acme/chat', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };
const tool = { name: 'f', input_schema: { properties: { a: { type: 'number' } } } };

test('sends a search result from the user and from a tool to a chat model', async (t) => {
  const { gateway, chat } = await startScriptedFormats(t);
  const found = {
    type: 'search_result',
    source: 'https://s',
    title: 'The "T"',
    content: [{ type: 'text', text: 'body' }],
  };
  const messages = [
    { role: 'user', content: [found, { type: 'text', text: 'What does it say?' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [found] }] },
  ];
  await gateway.post('/messages', { ...ask, messages, tools: [tool] });
  const words = '<search_result title="The \'T\'" source="https://s">\nbody\n</search_result>';
  const sent = chat.arrived[0]?.body as unknown as ChatBody;
  const [user, , result] = sent.messages;
  assert.equal(user?.content, `${words}\n\nWhat does it say?`);
  assert.equal(result?.content, words);
});

// @spec messages-17
test('accepts a tool call without input, and a schema without a type as one of an object', async (t) => {
  const { gateway, chat, messages } = await startScriptedFormats(t);
  const body = {
    tools: [tool],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
    ],
  };
  for (const model of ['acme/chat', 'acme/anthropic'])
    assert.equal((await gateway.post('/messages', { ...ask, ...body, model })).status, 200);
  const sent = chat.arrived[0]?.body as unknown as ChatBody;
  assert.deepEqual(sent.messages[1]?.tool_calls, [
    { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
  ]);
  const schema = { type: 'object', ...tool.input_schema };
  assert.deepEqual(sent.tools?.[0]?.function.parameters, schema);
  assert.deepEqual(messages.arrived[0]?.body['tools'], [{ name: 'f', input_schema: schema }]);
});

// @spec messages-21
test("sends a vendor's tool to the vendor, and rejects it with 400 for other hosts and formats", async (t) => {
  const { gateway, chat, messages } = await startScriptedFormats(t);
  const execution = { type: 'code_execution_20250825', name: 'code_execution' };
  for (const model of ['acme/messages', 'acme/chat']) {
    const refused = await gateway.post('/messages', { ...ask, model, tools: [tool, execution] });
    assert.equal(refused.status, 400, model);
    const { error } = (await refused.json()) as Refusal;
    assert.equal(error.type, 'invalid_request_error');
    assert.deepEqual(
      error.metadata.issues?.map(({ path }) => path),
      ['tools'],
    );
  }
  assert.equal(chat.arrived.length + messages.arrived.length, 0);

  // A capable endpoint of a fallback is called.
  const fallbacks = [{ model: 'acme/anthropic' }];
  assert.equal((await gateway.post('/messages', { ...ask, tools: [execution], fallbacks })).status, 200);
  assert.deepEqual(messages.arrived[0]?.body['tools'], [execution]);
});

// @spec messages-19
test("sends a vendor's search to the vendor, and runs the gateway's own for other hosts", async (t) => {
  const { gateway, chat, messages } = await startScriptedFormats(t);
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const offered = async (model: string): Promise<readonly unknown[]> => {
    assert.equal((await gateway.post('/messages', { ...ask, model, tools: [search] })).status, 200, model);
    const sent = model === 'acme/chat' ? chat : messages;
    return sent.arrived.at(-1)?.body['tools'] as readonly unknown[];
  };
  assert.deepEqual(await offered('acme/anthropic'), [search]);
  const [elsewhere] = (await offered('acme/messages')) as readonly { readonly name: string }[];
  assert.equal(elsewhere?.name, 'service_web_search');
  const [lowered] = (await offered('acme/chat')) as readonly { readonly function: { readonly name: string } }[];
  assert.equal(lowered?.function.name, 'service_web_search');
});

// @spec messages-25
test('stops offering a withdrawn tool to a model whose format cannot express the withdrawal', async (t) => {
  const { gateway, messages } = await startScriptedFormats(t);
  const removal = { type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } };
  const body = { tools: [tool], messages: [...ask.messages, { role: 'system', content: [removal] }] };
  for (const model of ['acme/messages', 'acme/chat'])
    assert.equal((await gateway.post('/messages', { ...ask, ...body, model })).status, 400, model);
  assert.equal((await gateway.post('/messages', { ...ask, ...body, model: 'acme/anthropic' })).status, 200);
  assert.match(String(messages.arrived[0]?.headers['anthropic-beta']), /mid-conversation-tool-changes/);
});

// @spec messages-36
test('counts the effect of context edits at the vendor', async (t) => {
  const { gateway, messages } = await startScriptedFormats(t);
  const management = { edits: [{ type: 'clear_tool_uses_20250919' }] };
  const body = { ...ask, model: 'acme/anthropic', context_management: management };
  await gateway.post('/messages/count_tokens', body);
  assert.deepEqual(messages.arrived[0]?.body['context_management'], management);
  assert.match(String(messages.arrived[0]?.headers['anthropic-beta']), /context-management/);
});

test('shortens a tool name that is too long for a chat model, and restores it', async (t) => {
  const { gateway, chat } = await startScriptedFormats(t);
  const name = `mcp__plugin.${'x'.repeat(80)}`;
  chat.script = (arrived, response, request) => {
    const [offered] = (arrived.body as unknown as ChatBody).tools ?? [];
    const call = { id: 'b', type: 'function', function: { name: offered?.function.name, arguments: '{}' } };
    const delta = { tool_calls: [{ index: 0, ...call }] };
    const events = [chatChunk(delta), chatChunk({}, 'tool_calls'), '[DONE]'];
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const whole = chatAnswer('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
    const answer = arrived.body['stream'] === true ? stream(sse(events)) : json(200, whole);
    void answer(arrived, response, request);
  };
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
  ];
  const body = { ...ask, messages, tools: [{ ...tool, name }], tool_choice: { type: 'tool', name } };
  for (const streaming of [false, true]) {
    const text = await (await gateway.post('/messages', { ...body, stream: streaming })).text();
    assert.ok(text.includes(`"name":"${name}"`), text);
    const sent = chat.arrived.at(-1)?.body as unknown as ChatBody;
    const short = sent.tools?.[0]?.function.name ?? '';
    assert.match(short, /^mcp__plugin_x+_[0-9a-f]{8}$/);
    assert.equal(short.length, 64);
    assert.deepEqual(sent.tool_choice, { type: 'function', function: { name: short } });
    assert.ok(JSON.stringify(sent.messages[1]).includes(`"name":"${short}"`));
  }
});
