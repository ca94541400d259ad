import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { speakChat } from '../support/upstreams/scripted-formats.ts';
import { startUpstream } from '../support/upstream.ts';

const userTexts = {
  messages: [{ role: 'user', content: 'hi' }],
  temperature: 0.5,
  top_k: 3,
  min_p: 0.1,
  top_a: 0.2,
  repetition_penalty: 1.1,
  presence_penalty: 0.3,
  seed: 4,
};

test("sends each model the vendor parameters that it accepts, follows the operator's list, and sends a plain host all", async (t) => {
  const upstream = await startUpstream(speakChat('Said.'));
  const endpoint = (provider: string, model: string, more = ''): string =>
    `{ endpoints: [{ provider: ${provider}, model: ${model}, price: { prompt: 1, completion: 2 }${more} }] }`;
  const gateway = await startGateway({
    yaml: `
providers:
  vendor: { adapter: openai, base_url: "${upstream.baseUrl}", api_key: secret-1 }
  plain: { adapter: openai-compatible, base_url: "${upstream.baseUrl}", api_key: secret-2 }
models:
  acme/old: ${endpoint('vendor', 'gpt-4.1')}
  acme/reasons: ${endpoint('vendor', 'gpt-5')}
  acme/may-reason: ${endpoint('vendor', 'gpt-5.4')}
  acme/listed: ${endpoint('vendor', 'gpt-4.1', ', supported_parameters: [top_k, seed]')}
  acme/plain: ${endpoint('plain', 'gpt-4.1')}
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  const arrive = async (model: string, more: object = {}): Promise<readonly string[]> => {
    const response = await gateway.post('/chat/completions', { ...userTexts, ...more, model });
    assert.equal(response.status, 200, await response.text());
    return Object.keys(upstream.arrived.at(-1)?.body ?? {}).filter((member) => member in userTexts);
  };
  assert.deepEqual(await arrive('acme/old'), ['messages', 'temperature', 'presence_penalty', 'seed']);
  assert.deepEqual(await arrive('vendor/gpt-4.1'), ['messages', 'temperature', 'presence_penalty', 'seed']);
  assert.deepEqual(await arrive('acme/reasons'), ['messages', 'seed']);
  assert.deepEqual(await arrive('acme/may-reason'), ['messages', 'temperature', 'seed']);
  assert.deepEqual(await arrive('acme/may-reason', { reasoning_effort: 'high' }), ['messages', 'seed']);
  assert.deepEqual(await arrive('acme/listed'), ['messages', 'temperature', 'top_k', 'seed']);
  assert.deepEqual((await arrive('acme/plain')).toSorted(), Object.keys(userTexts).toSorted());
  const strict = { ...userTexts, model: 'acme/old', provider: { require_parameters: true } };
  assert.equal((await gateway.post('/chat/completions', strict)).status, 404);
});
