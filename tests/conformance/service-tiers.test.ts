import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type Script } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];

/** One upstream with a standard price, and capacity that costs ten times as much or half of it. */
async function startTiers(t: TestContext, script: Script) {
  const upstream = await startUpstream(script);
  t.after(() => upstream.close());
  const gateway = await startGateway({
    yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: "${upstream.baseUrl}", api_key: upstream-secret-1 }
models:
  acme/one:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 100, completion: 100 } }
      - { provider: alpha, model: one, service_tier: priority, price: { prompt: 1000, completion: 1000 } }
      - { provider: alpha, model: one, service_tier: flex, price: { prompt: 50, completion: 50 } }
`,
  });
  t.after(() => gateway.close());
  const ask = async (more: object) => {
    const response = await gateway.post('/chat/completions', { model: 'acme/one', messages, ...more });
    return (await response.json()) as { readonly service_tier?: string; readonly usage: { readonly cost: number } };
  };
  const requested = (): readonly unknown[] => upstream.arrived.map(({ body }) => body['service_tier']);
  return { upstream, ask, requested };
}

const served = (tier: string): Script => json(200, chatAnswer('well', { service_tier: tier }));
/** 15 tokens at so many USD per million. */
const costAt = (usd: number): number => (15 * usd) / 1e6;

suite('a service tier', () => {
  test('is requested from the endpoint of that tier, and billed at its price', async (t) => {
    const { ask, requested } = await startTiers(t, served('priority'));
    assert.equal((await ask({ service_tier: 'priority' })).usage.cost, costAt(1_000));
    assert.deepEqual(requested(), ['priority']);
  });

  test('is requested when a suffix or a name selects it', async (t) => {
    const { ask, requested } = await startTiers(t, served('flex'));
    assert.equal((await ask({ model: 'acme/one:floor' })).usage.cost, costAt(50));
    assert.equal((await ask({ provider: { only: ['alpha/flex'] } })).usage.cost, costAt(50));
    assert.deepEqual(requested(), ['flex', 'flex']);
  });

  test('is not requested from the standard endpoint that serves instead', async (t) => {
    const { ask, requested } = await startTiers(t, (arrived, response, request) => {
      const isDear = arrived.body['service_tier'] === 'priority';
      return (isDear ? json(500, {}) : served('default'))(arrived, response, request);
    });
    assert.equal((await ask({ service_tier: 'priority' })).usage.cost, costAt(100));
    assert.deepEqual(requested(), ['priority', 'default']);
  });

  // @spec money-8
  test('is billed as the tier that served when the provider had no capacity', async (t) => {
    const { ask } = await startTiers(t, served('default'));
    const answer = await ask({ service_tier: 'priority' });
    assert.deepEqual([answer.service_tier, answer.usage.cost], ['default', costAt(100)]);
  });

  // @spec route-32
  test('has no fallback with flex only', async (t) => {
    const { ask, requested } = await startTiers(t, json(503, {}));
    await ask({ service_tier: 'flex' });
    assert.ok(requested().every((tier) => tier === 'flex'));
  });
});
