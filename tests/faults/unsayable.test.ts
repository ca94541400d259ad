import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { speakChat, speakMessages } from '../support/upstreams/scripted-formats.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

async function start(
  t: TestContext,
): Promise<{ gateway: RunningGateway; chat: ScriptedUpstream; messages: ScriptedUpstream }> {
  const chat = await startUpstream(speakChat('Said in chat.'));
  const messages = await startUpstream(speakMessages('Said in messages.'));
  const gateway = await startGateway({
    yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${chat.baseUrl}", options: { stored_files: true } }
  wordy: { adapter: messages-compatible, name: Wordy, base_url: "${messages.baseUrl}", options: { stored_files: true } }
  vendor: { adapter: anthropic, name: Vendor, base_url: "${messages.baseUrl}", options: { stored_files: true } }
models:
  acme/words: { endpoints: [{ provider: wordy, model: one }] }
  acme/vendor: { endpoints: [{ provider: vendor, model: claude-sonnet-4-6 }] }
  acme/both: { endpoints: [{ provider: wordy, model: one }, { provider: chatty, model: one }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await chat.close();
    await messages.close();
  });
  return { gateway, chat, messages };
}

const hi = { role: 'user', content: 'hi' };

/** What the messages format has no words for, and a chat endpoint takes. */
const UNSUPPORTED = {
  'the result of no call': {
    messages: [hi, { role: 'tool', tool_call_id: 'ghost', content: 'boo' }],
    path: 'messages[1].tool_call_id',
  },
  'nothing that can be seen': {
    messages: [
      { role: 'user', content: ' ' },
      { role: 'user', content: '' },
    ],
    path: 'messages',
  },
  'a stored file': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'read' },
          { type: 'file', file: { file_id: 'file_1' } },
        ],
      },
    ],
    path: 'messages[0].content[1].file.file_id',
  },
} as const;

interface Refusal {
  readonly error: {
    readonly message: string;
    readonly metadata: {
      readonly error_type: string;
      readonly issues: readonly { readonly path: string }[];
    };
  };
}

for (const [what, { messages: requested, path }] of Object.entries(UNSUPPORTED)) {
  // @spec translate-17
  test(`rejects ${what} with 400 at its field toward a messages upstream, before it sends anything`, async (t) => {
    const { gateway, messages } = await start(t);
    for (const stream of [false, true]) {
      const response = await gateway.post('/chat/completions', { model: 'acme/words', stream, messages: requested });
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as Refusal;
      assert.deepEqual([error.metadata.error_type, error.metadata.issues[0]?.path], ['invalid_prompt', path]);
      assert.ok(error.message.startsWith(`${path}: `), error.message);
    }
    assert.equal(messages.arrived.length, 0);
  });

  // @spec translate-17
  test(`sends ${what} to the next endpoint whose format can express it`, async (t) => {
    const { gateway, chat, messages } = await start(t);
    const response = await gateway.post('/chat/completions', { model: 'acme/both', messages: requested });
    assert.equal(response.status, 200);
    assert.match(await response.text(), /Said in chat\./);
    assert.deepEqual(chat.arrived[0]?.body['messages'], requested);
    assert.equal(messages.arrived.length, 0);
  });
}

test('sends a stored file to the messages vendor, which stores files itself', async (t) => {
  const { gateway, messages } = await start(t);
  const response = await gateway.post('/chat/completions', {
    model: 'acme/vendor',
    messages: UNSUPPORTED['a stored file'].messages,
  });
  assert.equal(response.status, 200);
  const [arrived] = messages.arrived;
  assert.deepEqual(arrived?.body['messages'], [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'read' },
        { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      ],
    },
  ]);
  assert.match(String(arrived?.headers['anthropic-beta']), /files-api-/);
});

test('rejects content without visible characters from a messages caller with 400, and estimates its tokens', async (t) => {
  const { gateway, messages } = await start(t);
  const body = { model: 'acme/vendor', max_tokens: 9, messages: [{ role: 'user', content: ' ' }] };
  const response = await gateway.post('/messages', body);
  assert.equal(response.status, 400);
  assert.equal(((await response.json()) as Refusal).error.metadata.issues[0]?.path, 'messages');
  assert.equal((await gateway.post('/messages/count_tokens', body)).status, 200);
  assert.equal(messages.arrived.length, 0);
});
