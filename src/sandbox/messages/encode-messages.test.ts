import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic, { APIError, BadRequestError, RateLimitError } from '@anthropic-ai/sdk';
import type { ContentBlockParam, MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages';
import { startSandbox, type Sandbox } from '../server.ts';

// The vendor's own SDK is the judge of the frames: it fails on events in an order that it does not know.

let sandbox: Sandbox;
let client: Anthropic;

before(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  client = new Anthropic({ baseURL: new URL(sandbox.baseUrl).origin, apiKey: 'none', maxRetries: 0 });
});
after(() => sandbox.close());

const WEATHER: Tool = {
  name: 'get_weather',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
    required: ['city', 'days'],
  },
};
const CLOCK: Tool = { name: 'get_time', input_schema: { type: 'object' } };

test('sends a whole response that the SDK reads', async () => {
  const message = await client.messages.create({
    model: 'echo',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello, world' }],
  });
  assert.deepEqual(message.content, [{ type: 'text', text: 'Hello, world', citations: null }]);
  assert.equal(message.stop_reason, 'end_turn');
  assert.equal(message.usage.output_tokens, 4);
  assert.match(message._request_id ?? '', /^req_/);
});

test('sends a stream that the SDK accumulates to the whole response', async () => {
  const body = {
    model: 'reasoning',
    max_tokens: 2_000,
    messages: [{ role: 'user', content: 'Grüße, 世界 😀' } as const],
  };
  let text = '';
  let thinking = '';
  const stream = client.messages.stream(body);
  stream.on('text', (delta) => (text += delta));
  stream.on('thinking', (delta) => (thinking += delta));
  const streamed = await stream.finalMessage();
  const whole = await client.messages.create(body);
  assert.equal(text, 'Grüße, 世界 😀');
  assert.match(thinking, /^The user wrote/);
  assert.deepEqual(streamed.content, whole.content);
  assert.equal(streamed.stop_reason, whole.stop_reason);
  assert.deepEqual(streamed.usage, whole.usage);
});

test('keeps thinking and its signature through two turns with tools', async () => {
  const tools = [WEATHER, CLOCK];
  const messages: MessageParam[] = [{ role: 'user', content: 'Weather and time, in parallel' }];
  const settings = {
    model: 'tools',
    max_tokens: 4_000,
    tools,
    thinking: { type: 'enabled', budget_tokens: 1_024 },
  } as const;
  const first = await client.messages.stream({ ...settings, tools, messages }).finalMessage();
  assert.equal(first.stop_reason, 'tool_use');
  assert.deepEqual(
    first.content.map(({ type }) => type),
    ['thinking', 'tool_use', 'tool_use'],
  );
  const calls = first.content.filter((block) => block.type === 'tool_use');
  assert.deepEqual(
    calls.map(({ name, input }) => [name, input]),
    [
      ['get_weather', { city: 'city', days: 2 }],
      ['get_time', {}],
    ],
  );

  messages.push({ role: 'assistant', content: first.content });
  messages.push({
    role: 'user',
    content: calls.map(({ id }, index) => ({ type: 'tool_result', tool_use_id: id, content: `result ${index}` })),
  });
  const second = await client.messages.stream({ ...settings, tools, messages }).finalMessage();
  assert.equal(second.stop_reason, 'end_turn');
  const stated = second.content.find((block) => block.type === 'text');
  assert.equal(stated?.text, 'tool get_weather said: result 0\ntool get_time said: result 1');
});

test('refuses thinking that was tampered with', async () => {
  const messages: MessageParam[] = [{ role: 'user', content: 'think' }];
  const first = await client.messages.create({ model: 'reasoning', max_tokens: 2_000, messages });
  const content = first.content.map((block): ContentBlockParam =>
    block.type === 'thinking' ? { ...block, thinking: `${block.thinking} And more.` } : (block as ContentBlockParam),
  );
  const replay = (blocks: ContentBlockParam[]): Promise<unknown> =>
    client.messages.create({
      model: 'reasoning',
      max_tokens: 2_000,
      messages: [...messages, { role: 'assistant', content: blocks }, { role: 'user', content: 'and?' }],
    });
  await assert.rejects(
    replay(content),
    (error) => error instanceof BadRequestError && /Invalid `signature`/.test(error.message),
  );
  await replay(first.content);
});

test('sends structured output that the SDK parses', async () => {
  const schema = { type: 'object', properties: { rank: { type: 'integer', exclusiveMinimum: 4 } }, required: ['rank'] };
  const message = await client.messages.create({
    model: 'json',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'x' }],
    output_config: { format: { type: 'json_schema', schema } },
  });
  const [block] = message.content;
  assert.ok(block?.type === 'text');
  assert.deepEqual(JSON.parse(block.text), { rank: 5 });
});

test('sends failures that the SDK maps to its own errors', async () => {
  const ask = (model: string): Promise<unknown> =>
    client.messages.create({ model, max_tokens: 10, messages: [{ role: 'user', content: 'x' }] });
  await assert.rejects(ask('error-429'), (error) => {
    assert.ok(error instanceof RateLimitError);
    assert.equal(error.type, 'rate_limit_error');
    assert.equal(error.headers.get('retry-after'), '1');
    return true;
  });
  await assert.rejects(ask('error-529'), (error) => error instanceof APIError && error.status === 529);
});

test('sends a failure in the middle of a stream that the SDK reports', async () => {
  const messages: MessageParam[] = [{ role: 'user', content: 'one two three four after=2' }];
  let text = '';
  const stream = client.messages.stream({ model: 'error-529', max_tokens: 100, messages });
  stream.on('text', (delta) => (text += delta));
  await assert.rejects(
    stream.finalMessage(),
    (error) => error instanceof APIError && /overloaded_error/.test(error.message),
  );
  assert.equal(text, 'one two');
});

test('cuts a stream, which the SDK reports', async () => {
  const messages: MessageParam[] = [{ role: 'user', content: 'one two three four' }];
  await assert.rejects(client.messages.stream({ model: 'cut', max_tokens: 100, messages }).finalMessage());
});

test('counts tokens and lists models for the SDK', async () => {
  const counted = await client.messages.countTokens({
    model: 'echo',
    messages: [{ role: 'user', content: 'Hello, world' }],
  });
  assert.equal(counted.input_tokens, 4);
  const models: string[] = [];
  for await (const { id } of client.models.list()) models.push(id);
  assert.ok(models.includes('reasoning'));
});
