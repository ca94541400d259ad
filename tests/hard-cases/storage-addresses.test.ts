import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { emit, speak } from '../support/upstreams/speak.ts';
import { startUpstream, json, type ScriptedUpstream } from '../support/upstream.ts';
import type { JsonObject } from '../../src/lib/json.ts';

const GEMINI_ANSWER = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Seen.' }] }, finishReason: 'STOP' }],
};

async function start(t: TestContext): Promise<{ gateway: RunningGateway; upstream: ScriptedUpstream }> {
  const upstream = await startUpstream(json(200, GEMINI_ANSWER));
  const provider = `adapter: google, base_url: "${upstream.baseUrl}", api_key: secret-1`;
  const gateway = await startGateway({
    yaml: `
providers:
  closed: { ${provider} }
  open: { ${provider}, options: { storage_uris: true } }
models:
  acme/closed: { endpoints: [{ provider: closed, model: gemini-2.5-flash }] }
  acme/open: { endpoints: [{ provider: open, model: gemini-2.5-flash }] }
  acme/both: { endpoints: [{ provider: closed, model: gemini-2.5-flash }, { provider: open, model: gemini-2.5-flash }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return { gateway, upstream };
}

const OF_OPERATOR = [
  'gs://private-bucket/salaries.pdf',
  'GS://private-bucket/salaries.pdf',
  'https://generativelanguage.googleapis.com/v1beta/files/abc123',
];

for (const address of OF_OPERATOR) {
  const content = [
    { type: 'text', text: 'Read' },
    { type: 'file', file: { filename: 'a.pdf', file_data: address } },
  ];
  const messages = [{ role: 'user', content }];

  // @spec media-6
  test(`opens ${address} with the operator's rights only if the operator allows it`, async (t) => {
    const { gateway, upstream } = await start(t);
    const refused = await gateway.post('/chat/completions', { model: 'acme/closed', messages });
    assert.equal(refused.status, 400);
    const { error } = (await refused.json()) as { error: { metadata: { issues: { path: string }[] } } };
    assert.equal(error.metadata.issues[0]?.path, 'messages[0].content[1]');
    assert.equal(upstream.arrived.length, 0);
    for (const model of ['acme/open', 'acme/both'])
      assert.equal((await gateway.post('/chat/completions', { model, messages })).status, 200);
    assert.ok(upstream.arrived.every(({ text }) => text.includes(address)));
  });
}

test('rejects such an address in a tool result at its place', async (t) => {
  const { gateway } = await start(t);
  const source = { type: 'url', url: 'gs://private-bucket/a.png' };
  const refused = await gateway.post('/messages', {
    model: 'acme/closed',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'shoot', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source }] }],
      },
    ],
  });
  assert.equal(refused.status, 400);
  const { error } = (await refused.json()) as { error: { metadata: { issues: { path: string }[] } } };
  assert.equal(error.metadata.issues[0]?.path, 'messages[2].content[0].content[0]');
});

/** A gateway with one upstream behind each of the two formats; of both providers one that opens stored files and one that does not. */
async function startWithStores(t: TestContext): Promise<{ gateway: RunningGateway; upstream: ScriptedUpstream }> {
  const upstream = await startUpstream(speak({ parts: [{ type: 'text', text: 'Seen.' }] }));
  const providers = [
    ['chat', 'openai-compatible'],
    ['messages', 'anthropic'],
  ].flatMap(([name, adapter]) => {
    const entry = `adapter: ${adapter}, base_url: "${upstream.baseUrl}", api_key: secret-1`;
    return [`  ${name}-closed: { ${entry} }`, `  ${name}-open: { ${entry}, options: { stored_files: true } }`];
  });
  const models = ['chat-closed', 'chat-open', 'messages-closed', 'messages-open'].map(
    (name) => `  acme/${name}: { endpoints: [{ provider: ${name}, model: claude-sonnet-4-6 }] }`,
  );
  const gateway = await startGateway({
    yaml: ['providers:', ...providers, 'models:', ...models].join('\n'),
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return { gateway, upstream };
}

const STORED: Readonly<Record<string, readonly [path: string, body: JsonObject, at: string]>> = {
  'a document of a chat caller': [
    '/chat/completions',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file_1' } }] }] },
    'messages[0].content[0]',
  ],
  'a document of a messages caller': [
    '/messages',
    {
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] }],
    },
    'messages[0].content[0]',
  ],
  'a picture in the result of a tool': [
    '/messages',
    {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'shoot', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
            },
          ],
        },
      ],
    },
    'messages[2].content[0].content[0]',
  ],
};

for (const [what, [path, requested, at]] of Object.entries(STORED)) {
  // @spec media-6
  test(`reads ${what} that was uploaded with the operator's key only if the operator allows it`, async (t) => {
    const { gateway, upstream } = await startWithStores(t);
    for (const format of ['chat', 'messages']) {
      const refused = await gateway.post(path, { model: `acme/${format}-closed`, ...requested });
      assert.equal(refused.status, 400, format);
      const { error } = (await refused.json()) as { error: { metadata: { issues: { path: string }[] } } };
      assert.equal(error.metadata.issues[0]?.path, at);
    }
    assert.equal(upstream.arrived.length, 0);
    const home = path === '/messages' ? 'messages' : 'chat';
    assert.equal((await gateway.post(path, { model: `acme/${home}-open`, ...requested })).status, 200);
    assert.match(upstream.arrived[0]?.text ?? '', /file_1/);
  });
}

test("treats a file for a vendor's container likewise", async (t) => {
  const { gateway, upstream } = await startWithStores(t);
  const messages = [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] }];
  const ask = async (model: string): Promise<number> =>
    (await gateway.post('/messages', { model, max_tokens: 9, messages })).status;
  assert.equal(await ask('acme/messages-closed'), 400);
  assert.equal(upstream.arrived.length, 0);
  assert.equal(await ask('acme/messages-open'), 200);
});

const NEIGHBOUR = 'http://169.254.169.254/latest/meta-data';
const PARTS: readonly (readonly [path: '/chat/completions' | '/messages', part: JsonObject])[] = [
  ['/chat/completions', { type: 'image_url', image_url: { url: NEIGHBOUR } }],
  ['/chat/completions', { type: 'video_url', video_url: { url: NEIGHBOUR } }],
  ['/chat/completions', { type: 'input_video', video_url: { url: NEIGHBOUR } }],
  ['/messages', { type: 'image', source: { type: 'url', url: NEIGHBOUR } }],
  ['/messages', { type: 'document', source: { type: 'url', url: NEIGHBOUR } }],
];
for (const [path, part] of PARTS)
  // @spec media-6
  test(`sends a host in the private network a neighbour's address only if the operator allows it: ${JSON.stringify(part['type'])} of ${path}`, async (t) => {
    const upstream = await startUpstream(emit('Seen.'));
    const adapter = path === '/messages' ? 'messages-compatible' : 'openai-compatible';
    const provider = `adapter: ${adapter}, base_url: "${upstream.baseUrl}", api_key: secret-1`;
    const gateway = await startGateway({
      yaml: `
providers:
  closed: { ${provider} }
  open: { ${provider}, options: { private_media: true } }
models:
  acme/closed: { endpoints: [{ provider: closed, model: one }] }
  acme/open: { endpoints: [{ provider: open, model: one }] }
`,
    });
    t.after(async () => {
      await gateway.close();
      await upstream.close();
    });
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Look' }, part] }];
    const refused = await gateway.post(path, { model: 'acme/closed', max_tokens: 10, messages });
    assert.deepEqual([refused.status, upstream.arrived.length], [400, 0], await refused.text());
    await gateway.post(path, { model: 'acme/open', max_tokens: 10, messages });
    assert.ok(upstream.arrived.some(({ text }) => text.includes(NEIGHBOUR)));
  });
