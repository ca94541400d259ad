import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const USAGE = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
const MESSAGES = [{ role: 'user', content: 'Hi' }];

// @spec route-43
suite('a backtest', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  let spentKey = '';
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a, data_policy: { training: false, retention_days: 0 } }
  beta: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: b, data_policy: { training: true, retention_days: 30 } }
models:
  acme/one:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 10, completion: 20 } }
      - { provider: beta, model: one, context_length: 1400, price: { prompt: 1, completion: 2 } }
  acme/two: { endpoints: [{ provider: beta, model: two, price: { prompt: 1, completion: 2 } }] }
`,
    });
    const key = await manage(gateway, 'POST', '/keys', { name: 'spent' });
    assert.ok(isJsonObject(key.body['data']));
    spentKey = textAt(key.body['data'], 'hash');
    const spent = { authorization: `Bearer ${textAt(key.body, 'key')}` };
    for (const [model, headers] of [
      ['acme/one', {}],
      ['acme/one', {}],
      ['acme/two', {}],
      ['acme/two', spent],
    ] as const) {
      const provider = { order: ['alpha'] };
      const reply = await gateway.post('/chat/completions', { model, messages: MESSAGES, provider }, headers);
      assert.equal(reply.status, 200, await reply.text());
    }
    await manage(gateway, 'PATCH', `/keys/${spentKey}`, { disabled: true });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function run(body: object): Promise<JsonObject> {
    const reply = await manage(gateway, 'POST', '/route/backtest', body);
    assert.equal(reply.status, 200, reply.text);
    assert.ok(isJsonObject(reply.body['data']));
    return reply.body['data'];
  }

  test('compares money and endpoints with what happened, and leaves out keys that may not be used', async () => {
    const result = await run({ provider: { order: ['alpha'] } });
    assert.deepEqual([result['requests'], result['moved'], result['is_whole']], [3, 0, true]);
    assert.deepEqual(result['skipped'], { other_kinds: 0, unknown_models: 0, unusable_keys: 1 });
    assert.deepEqual(result['cost'], { before: 0.042, after: 0.042, unpriced: 0 });
    assert.deepEqual(result['unserved'], { count: 0, ids: [] });
  });

  test('moves what may be moved: an endpoint that is too small for a request serves it not', async () => {
    const { moved, endpoints } = await run({ provider: { sort: 'price' } });
    assert.equal(moved, 0);
    assert.deepEqual(endpoints, [
      { provider: 'alpha', model: 'acme/one', before: 2, after: 2 },
      { provider: 'beta', model: 'acme/two', before: 1, after: 1 },
    ]);
  });

  test('names what no endpoint would have served', async () => {
    const { unserved, cost } = await run({ provider: { data_collection: 'deny' } });
    assert.ok(isJsonObject(unserved) && Array.isArray(unserved['ids']));
    assert.equal(unserved['count'], 1);
    assert.match(String(unserved['ids'][0]), /^gen-/);
    assert.deepEqual(cost, { before: 0.04, after: 0.04, unpriced: 0 });
  });

  test('is bounded, filtered, and refuses what it does not know', async () => {
    const { requests, is_whole: isWhole } = await run({ limit: 1 });
    assert.deepEqual([requests, isWhole], [0, false]);
    assert.equal((await run({ model: 'acme/one' }))['requests'], 2);
    assert.equal((await run({ from: '2099-01-01T00:00:00Z' }))['requests'], 0);
    for (const [body, path] of [
      [{ limit: 5_001 }, /limit/],
      [{ provider: { ordre: [] } }, /provider/],
      [{ from: 'yesterday' }, /from/],
    ] as const) {
      const { status, text } = await manage(gateway, 'POST', '/route/backtest', body);
      assert.equal(status, 400);
      assert.match(text, path);
    }
  });
});
