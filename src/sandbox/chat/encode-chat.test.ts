import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI, { APIError, NotFoundError, RateLimitError } from 'openai';
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions';
import { startSandbox, type Sandbox } from '../server.ts';

// The vendor's own SDK is the judge of the frames: it fails on one that it cannot read.

let sandbox: Sandbox;
let client: OpenAI;

before(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  client = new OpenAI({ baseURL: sandbox.baseUrl, apiKey: 'none', maxRetries: 0 });
});
after(() => sandbox.close());

const WEATHER: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 }, unit: { enum: ['C', 'F'] } },
      required: ['city', 'days', 'unit'],
      additionalProperties: false,
    },
  },
};
const CLOCK: ChatCompletionTool = { type: 'function', function: { name: 'get_time' } };
const WEATHER_INPUT = { city: 'city', days: 2, unit: 'C' };

test('sends a whole response that the SDK reads', async () => {
  const completion = await client.chat.completions.create({
    model: 'echo',
    messages: [{ role: 'user', content: 'Hello, world' }],
  });
  assert.equal(completion.choices[0]?.message.content, 'Hello, world');
  assert.equal(completion.usage?.total_tokens, 8);
  assert.match(completion._request_id ?? '', /^req_/);
});

test('sends a stream that the SDK accumulates', async () => {
  const stream = client.chat.completions.stream({
    model: 'reasoning',
    messages: [{ role: 'user', content: 'Grüße, 世界 😀' }],
    stream_options: { include_usage: true },
  });
  let text = '';
  stream.on('content', (delta) => (text += delta));
  const completion = await stream.finalChatCompletion();
  assert.equal(text, 'Grüße, 世界 😀');
  assert.equal(completion.choices[0]?.message.content, text);
  assert.equal(completion.choices[0]?.finish_reason, 'stop');
  assert.ok((completion.usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0);
});

test('interleaves parallel calls that the SDK joins, and answers a second turn from the results', async () => {
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather and time, in parallel' }];
  const stream = client.chat.completions.stream({ model: 'tools', messages, tools: [WEATHER, CLOCK] });
  const { choices } = await stream.finalChatCompletion();
  assert.equal(choices[0]?.finish_reason, 'tool_calls');
  assert.equal(choices[0]?.message.content, null);
  const calls = choices[0]?.message.tool_calls ?? [];
  assert.deepEqual(
    calls.map((call) => (call.type === 'function' ? [call.function.name, JSON.parse(call.function.arguments)] : [])),
    [
      ['get_weather', WEATHER_INPUT],
      ['get_time', {}],
    ],
  );
  assert.equal(new Set(calls.map(({ id }) => id)).size, 2);

  messages.push({ role: 'assistant', content: null, tool_calls: calls });
  for (const [index, { id }] of calls.entries())
    messages.push({ role: 'tool', tool_call_id: id, content: `result ${index}` });
  const second = await client.chat.completions.create({ model: 'tools', messages, tools: [WEATHER, CLOCK] });
  assert.equal(second.choices[0]?.message.content, 'tool get_weather said: result 0\ntool get_time said: result 1');
  assert.equal(second.choices[0]?.finish_reason, 'stop');
});

test('deltas of parallel calls really take turns', async () => {
  const order: number[] = [];
  const stream = await client.chat.completions.create({
    model: 'tools',
    stream: true,
    messages: [{ role: 'user', content: 'parallel' }],
    tools: [WEATHER, { type: 'function', function: { name: 'again', parameters: WEATHER.function.parameters ?? {} } }],
  });
  for await (const chunk of stream) for (const { index } of chunk.choices[0]?.delta.tool_calls ?? []) order.push(index);
  assert.deepEqual(order.slice(0, 6), [0, 1, 0, 1, 0, 1]);
});

test("completes the SDK's tool runner", async () => {
  const runner = client.chat.completions.runTools({
    model: 'tools',
    stream: true,
    messages: [{ role: 'user', content: 'Weather?' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
          parse: JSON.parse,
          function: ({ city }: { city: string }) => `sunny in ${city}`,
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), 'tool get_weather said: sunny in city');
});

test('sends structured output that the SDK parses', async () => {
  const completion = await client.chat.completions.parse({
    model: 'json',
    messages: [{ role: 'user', content: 'x' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'answer',
        strict: true,
        schema: {
          type: 'object',
          properties: { tags: { type: 'array', items: { type: 'string' }, minItems: 2 } },
          required: ['tags'],
          additionalProperties: false,
        },
      },
    },
  });
  assert.deepEqual(completion.choices[0]?.message.parsed, { tags: ['tags', 'tags2'] });
});

test('sends failures that the SDK maps to its own errors', async () => {
  const ask = (model: string): Promise<unknown> =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }] });
  await assert.rejects(ask('error-429'), (error) => {
    assert.ok(error instanceof RateLimitError);
    assert.equal(error.code, 'rate_limit_exceeded');
    assert.equal(error.headers.get('retry-after'), '1');
    return true;
  });
  await assert.rejects(ask('nothing'), (error) => error instanceof NotFoundError && error.code === 'model_not_found');
});

test('sends a failure in the middle of a stream that the SDK reports', async () => {
  const stream = await client.chat.completions.create({
    model: 'error-503',
    stream: true,
    messages: [{ role: 'user', content: 'one two three four after=2' }],
  });
  let text = '';
  await assert.rejects(
    async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    },
    (error) => error instanceof APIError && /overloaded/.test(error.message),
  );
  assert.equal(text, 'one two');
});

test('sends retry-after, which the SDK obeys', async () => {
  const patient = new OpenAI({ baseURL: sandbox.baseUrl, apiKey: 'none', maxRetries: 1 });
  const startedMs = performance.now();
  await assert.rejects(
    patient.chat.completions.create({ model: 'error-503', messages: [{ role: 'user', content: 'x' }] }),
  );
  assert.ok(performance.now() - startedMs >= 990);
});

test('lists models for the SDK', async () => {
  const models: string[] = [];
  for await (const { id } of client.models.list()) models.push(id);
  assert.ok(models.includes('echo') && models.includes('error-429'));
});
