import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { speakChat, speakMessages } from '../support/upstreams/scripted-formats.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

interface Sized {
  readonly gateway: RunningGateway;
  readonly chat: ScriptedUpstream;
  readonly messages: ScriptedUpstream;
}

async function startSized(t: TestContext): Promise<Sized> {
  const chat = await startUpstream(speakChat('Said in chat.'));
  const messages = await startUpstream(speakMessages('Said in messages.'));
  const gateway = await startGateway({
    yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${chat.baseUrl}", api_key: secret-1 }
  wordy: { adapter: messages-compatible, name: Wordy, base_url: "${messages.baseUrl}", api_key: secret-2 }
models:
  acme/words: { endpoints: [{ provider: wordy, model: one, price: { prompt: 1, completion: 2 } }] }
  acme/both:
    endpoints:
      - { provider: wordy, model: one, price: { prompt: 1, completion: 2 } }
      - { provider: chatty, model: one, price: { prompt: 1, completion: 2 } }
  acme/small: { context_length: 1000, output_modalities: [text], endpoints: [{ provider: chatty, model: one, price: { prompt: 1, completion: 2 } }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await chat.close();
    await messages.close();
  });
  return { gateway, chat, messages };
}

interface Refusal {
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly metadata: { readonly error_type: string; readonly issues?: readonly { readonly path: string }[] };
    readonly availability?: { readonly code: string; readonly excluded_by: readonly string[] };
  };
}

const receive = [
  { type: 'text', text: 'What is said?' },
  { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
];

// @spec translate-15
test('sends sound only to endpoints that accept it, or refuses the request', async (t) => {
  const { gateway, chat, messages } = await startSized(t);
  const body = { messages: [{ role: 'user', content: receive }] };
  const served = await gateway.post('/chat/completions', { ...body, model: 'acme/both' });
  assert.equal(((await served.json()) as { provider: string }).provider, 'Chatty');
  assert.deepEqual(chat.arrived[0]?.body['messages'], body.messages);

  const refused = await gateway.post('/chat/completions', { ...body, model: 'acme/words' });
  const { error } = (await refused.json()) as Refusal;
  assert.equal(refused.status, 404);
  assert.deepEqual(error.availability?.excluded_by, ['input_modalities']);
  assert.match(error.message, /audio/);
  assert.equal(messages.arrived.length, 0);
});

// @spec route-21
test('rejects a prompt beyond every context with 400 before it is sent', async (t) => {
  const { gateway, chat } = await startSized(t);
  const refused = await gateway.post('/chat/completions', {
    model: 'acme/small',
    messages: [{ role: 'user', content: 'word '.repeat(2_000) }],
  });
  const { error } = (await refused.json()) as Refusal;
  assert.equal(refused.status, 400);
  assert.equal(error.metadata.error_type, 'context_length_exceeded');
  assert.equal(error.metadata.issues?.[0]?.path, 'messages');
  assert.equal(chat.arrived.length, 0);
});

test('sends no image to a model without image input', async (t) => {
  const { gateway } = await startSized(t);
  const refused = await gateway.post('/chat/completions', {
    model: 'acme/small',
    modalities: ['image', 'text'],
    messages: [{ role: 'user', content: 'Draw.' }],
  });
  const { error } = (await refused.json()) as Refusal;
  assert.equal(refused.status, 404);
  assert.deepEqual(error.availability?.excluded_by, ['output_modalities']);
});

test('rejects a forced server tool that is not among the tools', async (t) => {
  const { gateway, chat } = await startSized(t);
  const refused = await gateway.post('/chat/completions', {
    model: 'acme/both',
    messages: [{ role: 'user', content: 'Search.' }],
    tool_choice: { type: 'service:web_search' },
  });
  const { error } = (await refused.json()) as Refusal;
  assert.equal(refused.status, 400);
  assert.deepEqual(error.metadata.issues?.[0]?.path, 'tool_choice.type');
  assert.match(error.message, /one of the tools/);
  assert.equal(chat.arrived.length, 0);
});
