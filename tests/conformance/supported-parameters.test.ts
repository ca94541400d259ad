import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { speakChat, speakMessages } from '../support/upstreams/scripted-formats.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const TOOL = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };
const SCHEMA = { name: 'answer', strict: true, schema: { type: 'object' } };

interface Listed {
  readonly gateway: RunningGateway;
  readonly chat: ScriptedUpstream;
  readonly messages: ScriptedUpstream;
}

/** `acme/chat-LIST` and `acme/messages-LIST`: one endpoint each, whose list of parameters is the operator's. */
async function startListed(t: TestContext): Promise<Listed> {
  const chat = await startUpstream(speakChat('Said.'));
  const messages = await startUpstream(speakMessages('Said.'));
  const endpoint = (provider: string, list: string): string =>
    `{ endpoints: [{ provider: ${provider}, model: one, price: { prompt: 1, completion: 2 }, supported_parameters: [${list}] }] }`;
  const gateway = await startGateway({
    yaml: `
providers:
  chatty: { adapter: openai-compatible, base_url: "${chat.baseUrl}", api_key: secret-1 }
  wordy: { adapter: anthropic, base_url: "${messages.baseUrl}", api_key: secret-2 }
models:
  acme/chat-tools: ${endpoint('chatty', 'tools')}
  acme/messages-tools: ${endpoint('wordy', 'tools')}
  acme/chat-none: ${endpoint('chatty', '')}
  acme/chat-formats: ${endpoint('chatty', 'response_format')}
  acme/chat-grammar: ${endpoint('chatty', 'grammar')}
  acme/messages-schema: ${endpoint('wordy', 'structured_outputs')}
`,
  });
  t.after(async () => {
    await gateway.close();
    await chat.close();
    await messages.close();
  });
  return { gateway, chat, messages };
}

const ask = (model: string, more: object): object => ({ model, messages: [{ role: 'user', content: 'hi' }], ...more });

test('accepts parameters that qualify tools where a list contains tools, in every format and with require_parameters', async (t) => {
  const { gateway, chat, messages } = await startListed(t);
  const userTexts = { tools: [TOOL], tool_choice: 'required', parallel_tool_calls: false };
  for (const provider of [{}, { require_parameters: true }]) {
    for (const model of ['acme/chat-tools', 'acme/messages-tools'])
      assert.equal((await gateway.post('/chat/completions', ask(model, { ...userTexts, provider }))).status, 200);
    assert.equal(chat.arrived.at(-1)?.body['tool_choice'], 'required');
    assert.equal(chat.arrived.at(-1)?.body['parallel_tool_calls'], false);
    assert.deepEqual(messages.arrived.at(-1)?.body['tool_choice'], { type: 'any', disable_parallel_tool_use: true });
  }
});

// @spec chat-36
test('refuses a strict schema by name when no endpoint takes it', async (t) => {
  const { gateway, chat, messages } = await startListed(t);
  const userTexts = { response_format: { type: 'json_schema', json_schema: SCHEMA } };
  const refused = await gateway.post('/chat/completions', ask('acme/chat-none', userTexts));
  const { error } = (await refused.json()) as { error: { message: string; availability: object } };
  assert.equal(refused.status, 404);
  assert.match(error.message, /structured_outputs/);
  assert.equal(chat.arrived.length, 0);

  const lax = { response_format: { type: 'json_schema', json_schema: { ...SCHEMA, strict: false } } };
  assert.equal((await gateway.post('/chat/completions', ask('acme/chat-none', lax))).status, 200);
  assert.equal(chat.arrived[0]?.body['response_format'], undefined);

  const models = ['acme/chat-none', 'acme/messages-schema'];
  const served = await gateway.post('/chat/completions', ask('acme/chat-none', { ...userTexts, models }));
  assert.equal(served.status, 200);
  assert.deepEqual(messages.arrived[0]?.body['output_config'], {
    format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
  });
});

// @spec chat-37
test('sends a grammar to endpoints that advertise it; elsewhere ignores it, or excludes them when it is required', async (t) => {
  const { gateway, chat } = await startListed(t);
  const userTexts = { response_format: { type: 'grammar', grammar: 'root ::= "x"' } };
  const required = { ...userTexts, provider: { require_parameters: true } };
  assert.equal((await gateway.post('/chat/completions', ask('acme/chat-formats', required))).status, 404);
  assert.equal((await gateway.post('/chat/completions', ask('acme/chat-formats', userTexts))).status, 200);
  assert.equal(chat.arrived.at(-1)?.body['response_format'], undefined);
  assert.equal((await gateway.post('/chat/completions', ask('acme/chat-grammar', required))).status, 200);
  assert.deepEqual(chat.arrived.at(-1)?.body['response_format'], userTexts.response_format);
});
