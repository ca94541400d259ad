import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import type { Json } from '../../src/lib/json.ts';
import { at } from '../support/routers/three-models.ts';
import { manage } from '../support/byok.ts';
import { startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

const USAGE = { prompt_tokens: 4_000, completion_tokens: 1_000, total_tokens: 5_000 };

async function recordOf(t: TestContext, status: number): Promise<Json | undefined> {
  const upstream = await startUpstream(
    status === 200 ? json(200, chatAnswer('ok', { usage: USAGE })) : json(status, { error: { message: 'is down' } }),
  );
  const gateway = await startGateway({
    yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 2, request: 0.01 } }]
`,
  });
  t.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  const messages = [{ role: 'user', content: 'Hi' }];
  const response = await gateway.post('/chat/completions', { model: 'acme/one', messages });
  await response.arrayBuffer();
  const id = response.headers.get('x-generation-id') ?? '';
  return at((await manage(gateway, 'GET', `/generation?id=${id}`)).body, 'data');
}

// @spec generation-19
suite('GET /generation', () => {
  test('shows the lines of a cost, which add up to the whole', async (t) => {
    const record = await recordOf(t, 200);
    const lines = ['cost_prompt', 'cost_completion', 'cost_other', 'total_cost', 'status', 'error_type'];
    assert.deepEqual(
      lines.map((name) => at(record, name)),
      [0.004, 0.002, 0.01, 0.016, 200, null],
    );
  });

  test('shows the status of a failure with its error', async (t) => {
    const record = await recordOf(t, 500);
    assert.equal(at(record, 'status'), 502);
    assert.equal(at(record, 'error_type'), 'provider_unavailable');
    assert.equal(at(record, 'error_message'), 'The provider failed to answer.');
  });
});
