import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { startUpstream, json, type ScriptedUpstream } from '../support/upstream.ts';

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

  test(`${address} is not opened with the operator's rights unless the operator says so`, async (t) => {
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

test('in a result of a tool such an address is refused at its place, too', async (t) => {
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
