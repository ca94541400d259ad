import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ChatResult$inboundSchema, ChatStreamChunk$inboundSchema } from '@openrouter/sdk/models';
import { startGateway } from '../support/gateway.ts';
import { chatAnswer, chatChunk, json, sse, startUpstream, stream } from '../support/upstream.ts';

const upstream = await startUpstream(json(500, {}));
const gateway = await startGateway({
  yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 2 } }] }
`,
});
after(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(isStream: boolean): Promise<string> {
  const messages = [{ role: 'user', content: 'hi' }];
  const response = await gateway.post('/chat/completions', { model: 'acme/one', stream: isStream, messages });
  assert.equal(response.status, 200);
  return response.text();
}

test('sends only chunks that the strictest SDK accepts, whatever nulls the upstream sends', async () => {
  const nulls = { system_fingerprint: null, usage: null, service_tier: null };
  const chunks = ['one', ' two', ' three', ' four'].map((content) => chatChunk({ content }, null, nulls));
  const stated = [chatChunk({ role: 'assistant', content: '' }, null, nulls), ...chunks, chatChunk({}, 'stop', nulls)];
  // Before the choices as well, where some hosts put them.
  const early = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', system_fingerprint: null };
  const choices = [{ index: 0, delta: { content: ' five' }, finish_reason: null }];
  for (const ending of [['[DONE]'], [{ ...chatChunk({}), choices: [], usage: null }, '[DONE]']]) {
    upstream.script = stream(sse([...stated.slice(0, -1), { ...early, choices }, ...stated.slice(-1), ...ending]));
    const events = (await ask(true)).split('\n\n').filter((event) => event.startsWith('data: {'));
    assert.ok(events.length >= 8);
    for (const event of events) {
      const parsed = ChatStreamChunk$inboundSchema.safeParse(JSON.parse(event.slice('data: '.length)));
      assert.ok(parsed.success, `${event}: ${parsed.success || parsed.error.message}`);
    }
    assert.match(events.join('\n'), /one.* two.* three.* four.* five/s);
  }
});

test('sends a response without a finish reason that the strictest SDK accepts', async () => {
  upstream.script = stream(sse([chatChunk({ role: 'assistant', content: 'Said.' }), '[DONE]']));
  for (const event of (await ask(true)).split('\n\n').filter((text) => text.startsWith('data: {')))
    assert.ok(ChatStreamChunk$inboundSchema.safeParse(JSON.parse(event.slice('data: '.length))).success, event);
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Said.' }, finish_reason: null }];
  upstream.script = json(200, chatAnswer('', { choices, usage: null, system_fingerprint: null }));
  const text = await ask(false);
  assert.ok(ChatResult$inboundSchema.safeParse(JSON.parse(text)).success, text);
});
