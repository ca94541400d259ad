import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { suite, test, type TestContext } from 'node:test';
import { isJsonObject } from '../../src/lib/json.ts';
import { manage } from '../support/byok.ts';
import { API_KEY, startGateway } from '../support/gateway.ts';

/** A vendor that responds to every chat request with one word, and records the requested models. */
async function start(t: TestContext) {
  const requested: unknown[] = [];
  const vendor = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { model } = JSON.parse(text) as { model: unknown };
      requested.push(model);
      const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
      const message = { role: 'assistant', content: 'Hi' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model, choices, usage }));
    });
  }).listen(0, '127.0.0.1');
  await once(vendor, 'listening');
  const address = vendor.address();
  assert.ok(typeof address === 'object' && address !== null);
  const yaml = `providers: { groq: { base_url: "http://127.0.0.1:${address.port}/openai/v1", api_key: k } }`;
  const gateway = await startGateway({ yaml });
  t.after(async () => {
    await gateway.close();
    vendor.close();
  });
  return { gateway, requested };
}

interface Answer {
  readonly model: string;
  readonly usage: { readonly cost: number };
}

suite('the catalog in a running gateway', () => {
  // @spec money-5
  test('calls a public model by its upstream name and bills the listed price', async (t) => {
    const { gateway, requested } = await start(t);
    const listed = await fetch(`${gateway.baseUrl}/models/meta-llama/llama-3.3-70b-instruct/endpoints`);
    const { data } = (await listed.json()) as {
      data: { endpoints: { tag: string; pricing: { prompt: string; completion: string } }[] };
    };
    assert.deepEqual(
      data.endpoints.map(({ tag }) => tag),
      ['groq'],
    );
    const pricing = data.endpoints[0]?.pricing;
    assert.ok(pricing);
    const response = await gateway.post('/chat/completions', {
      model: 'meta-llama/llama-3.3-70b-instruct',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    assert.equal(response.status, 200);
    const { model, usage } = (await response.json()) as Answer;
    assert.equal(model, 'meta-llama/llama-3.3-70b-instruct');
    assert.deepEqual(requested, ['llama-3.3-70b-versatile']);
    const nanoUsd = (1_000 * Number(pricing.prompt) + 100 * Number(pricing.completion)) * 1e9;
    assert.equal(Math.round(usage.cost * 1e9), Math.round(nanoUsd));
    assert.ok(usage.cost > 0);
  });

  test('shows each fact about a model with its source', async (t) => {
    const { gateway } = await start(t);
    const { status, body } = await manage(gateway, 'GET', '/model/meta-llama/llama-3.3-70b-instruct/sources');
    assert.equal(status, 200);
    const { data } = body;
    assert.ok(isJsonObject(data) && Array.isArray(data['facts']) && Array.isArray(data['endpoints']));
    const facts = data['facts'].filter((fact) => isJsonObject(fact));
    assert.ok(facts.length > 0 && facts.every(({ source }) => source !== ''), JSON.stringify(facts));
    const [endpoint] = data['endpoints'].filter((each) => isJsonObject(each) && each['provider'] === 'groq');
    assert.match(JSON.stringify(endpoint), /"usable":true.*"member":"price/);
    assert.equal((await manage(gateway, 'GET', '/model/acme/none/sources')).status, 404);
  });

  // @spec catalog-1, catalog-19
  test('lists only models of configured providers, and the sandbox', async (t) => {
    const { gateway } = await start(t);
    const response = await fetch(`${gateway.baseUrl}/models`);
    const { data } = (await response.json()) as { data: { id: string }[] };
    const ids = data.map(({ id }) => id).filter((id) => !id.startsWith('sandbox/'));
    assert.ok(ids.includes('openai/gpt-oss-120b'));
    assert.ok(!ids.some((id) => id.startsWith('anthropic/')));
    const user = await fetch(`${gateway.baseUrl}/models/user`, { headers: { authorization: `Bearer ${API_KEY}` } });
    assert.equal(user.status, 200);
  });

  // @spec catalog-12
  test('shows statistics of the traffic in the list of endpoints', async (t) => {
    const { gateway } = await start(t);
    const ask = { model: 'openai/gpt-oss-120b', messages: [{ role: 'user', content: 'Hello' }] };
    for (let count = 0; count < 6; count++) await (await gateway.post('/chat/completions', ask)).text();
    const response = await fetch(`${gateway.baseUrl}/models/openai/gpt-oss-120b/endpoints`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { data } = (await response.json()) as {
      data: { endpoints: { uptime_last_5m: number | null; latency_last_30m: object | null; status: number }[] };
    };
    assert.equal(data.endpoints[0]?.uptime_last_5m, 100);
    assert.equal(data.endpoints[0].status, 0);
    assert.notEqual(data.endpoints[0].latency_last_30m, null);
  });
});
