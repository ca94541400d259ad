import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { API_KEY, startGateway } from '../support/gateway.ts';

const clock = { type: 'service:datetime', parameters: { timezone: 'UTC' } };

// @spec tool-19
test("returns a response with a tool call to the vendor's chat client, streamed and not", async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const client = new OpenAI({ apiKey: API_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
  const request = {
    model: 'sandbox/tools',
    messages: [{ role: 'user' as const, content: 'What time is it?' }],
    tools: [clock as unknown as OpenAI.ChatCompletionTool],
  };
  const whole = await client.chat.completions.create(request);
  const stated = /^tool service_datetime said: \{"datetime":"\d{4}-.*","timezone":"UTC"\}$/;
  assert.match(whole.choices[0]?.message.content ?? '', stated);
  assert.equal(whole.choices[0]?.message.tool_calls, undefined);
  assert.equal(whole.choices[0]?.finish_reason, 'stop');
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  assert.match(streamed.choices[0]?.message.content ?? '', stated);
  assert.equal(streamed.choices[0]?.finish_reason, 'stop');
});

// @spec tool-20
test("returns a response with a tool call to the vendor's messages client, which continues from it", async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const client = new Anthropic({ apiKey: API_KEY, baseURL: gateway.url, maxRetries: 0 });
  const user = { role: 'user' as const, content: 'What time is it?' };
  const request = {
    model: 'sandbox/tools',
    max_tokens: 500,
    messages: [user],
    tools: [clock as unknown as Anthropic.ToolUnion],
  };
  const whole = await client.messages.create(request);
  const streamed = await client.messages.stream(request).finalMessage();
  for (const { content, stop_reason: stop } of [whole, streamed]) {
    assert.deepEqual(
      content.map(({ type }) => type as string),
      ['server_tool_use', 'service_datetime_tool_result', 'text'],
    );
    assert.equal(stop, 'end_turn');
  }
  const next = await client.messages.create({
    ...request,
    messages: [user, { role: 'assistant', content: streamed.content }, { role: 'user', content: 'Thanks.' }],
  });
  assert.equal(next.stop_reason, 'end_turn');
});

test("accepts a function of the caller beside the gateway's tool", async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const client = new OpenAI({ apiKey: API_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
  const mine = {
    type: 'function' as const,
    function: { name: 'mine', parameters: { type: 'object', properties: {} } },
  };
  const user = { role: 'user' as const, content: 'Call both in parallel.' };
  const tools = [clock as unknown as OpenAI.ChatCompletionTool, mine];
  const { choices } = await client.chat.completions.create({ model: 'sandbox/tools', messages: [user], tools });
  const [choice] = choices;
  assert.equal(choice?.finish_reason, 'tool_calls');
  const calls = choice?.message.tool_calls ?? [];
  assert.deepEqual(
    calls.map((call) => (call.type === 'function' ? call.function.name : call.type)),
    ['mine'],
  );
  const result = { role: 'tool' as const, tool_call_id: calls[0]?.id ?? '', content: 'mine ran' };
  const messages = [user, choice?.message ?? user, result];
  const next = await client.chat.completions.create({ model: 'sandbox/tools', messages, tools });
  assert.match(next.choices[0]?.message.content ?? '', /tool service_datetime said: .*\ntool mine said: mine ran/);
});
