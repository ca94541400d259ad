import assert from 'node:assert/strict';
import { suite, test, before, after } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { speakChat } from '../support/upstreams/scripted-formats.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];
const SPELLINGS: readonly (readonly [path: string, setting: object])[] = [
  ['reasoning.effort', { reasoning_effort: 'none' }],
  ['reasoning.effort', { reasoning: { effort: 'none' } }],
  ['reasoning.enabled', { reasoning: { enabled: false } }],
  ['reasoning.max_tokens', { reasoning: { max_tokens: 0 } }],
];

suite('a model that always reasons, with reasoning turned off', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(speakChat('Said.'));
    gateway = await startGateway({
      yaml: `providers: { openai: { base_url: "${upstream.baseUrl}", api_key: secret-1 } }`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  for (const [path, input] of SPELLINGS)
    // @spec reasoning-4
    test(`is a 400 at ${path} for ${JSON.stringify(input)} when the caller named it`, async () => {
      const { length } = upstream.arrived;
      const response = await gateway.post('/chat/completions', { model: 'openai/o3', messages, ...input });
      const { error } = (await response.json()) as { error: { code: number; message: string } };
      assert.deepEqual(
        [response.status, error.message],
        [400, `${path}: must not turn reasoning off: "openai/o3" always reasons`],
      );
      assert.equal(upstream.arrived.length, length);
    });

  test('is a 400 in the other format, too', async () => {
    const body = { model: 'openai/o3', max_tokens: 100, messages, thinking: { type: 'disabled' } };
    const response = await gateway.post('/messages', body);
    assert.equal(response.status, 400);
    assert.match(await response.text(), /"thinking: must not turn reasoning off/);
  });

  test('is reported by route/explain', async () => {
    const response = await gateway.post('/route/explain', { model: 'openai/o3', messages, reasoning_effort: 'none' });
    const { error } = (await response.json()) as { error?: { code: number } };
    assert.equal(error?.code, 400);
  });

  // @spec reasoning-4
  test('reasons as little as possible when a router chose it', async () => {
    const plugins = [{ id: 'auto-router', allowed_models: ['openai/o3'] }];
    const body = { model: 'service/auto', messages, plugins, reasoning: { effort: 'none' } };
    assert.equal((await gateway.post('/chat/completions', body)).status, 200);
    assert.equal(upstream.arrived.at(-1)?.body['model'], 'o3');
    assert.equal(upstream.arrived.at(-1)?.body['reasoning_effort'], 'low');
  });

  test('serves when reasoning cannot be turned off in the request', async () => {
    const body = { model: 'openai/gpt-5.2', messages, reasoning_effort: 'none' };
    assert.equal((await gateway.post('/chat/completions', body)).status, 200);
    assert.equal(upstream.arrived.at(-1)?.body['reasoning_effort'], 'none');
  });
});
