import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/v1, api_key: k1 }
models:
  a/vectors: { output_modalities: [embeddings], endpoints: [{ provider: one, model: v, price: { prompt: 1, completion: 0 } }] }
  a/ranks: { output_modalities: [rerank], endpoints: [{ provider: one, model: r, price: { prompt: 0, completion: 0, search_unit: 0.002 } }] }
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

const ON = { 'x-service-cache': 'true' };
const BODY = { model: 'a/ranks', query: 'q', documents: ['x', { text: 'y', id: 7 }] };
const SCORES =
  '{"results":[{"index":1,"relevance_score":0.9100},{"index":0,"relevance_score":2e-2}],"meta":{"billed_units":{"search_units":1}}}';

async function rerank(query: string, headers: Readonly<Record<string, string>> = ON, more: JsonObject = {}) {
  const response = await gateway.post('/rerank', { ...BODY, ...more, query }, headers);
  const text = await response.text();
  const body = parseJsonObject(text) ?? {};
  const { usage } = body;
  const cost = isJsonObject(usage) ? usage['cost'] : undefined;
  const results = /"results":\[.*\](?=,"usage")/.exec(text)?.[0];
  const header = (name: string): string | null => response.headers.get(`x-service-cache-${name}`);
  return { status: response.status, text, body, cost, results, header, response };
}

async function recordOf(response: Response): Promise<JsonObject> {
  const id = response.headers.get('x-generation-id') ?? '';
  const read = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = parseJsonObject(await read.text()) ?? {};
  assert.ok(isJsonObject(data));
  return data;
}

describe('an order of documents from the cache', () => {
  // @spec cache-13
  test('is the same, to the digit, costs nothing, and calls no provider', async () => {
    fake.answer = (_call, response) => sendJson(response, SCORES);
    fake.seen.length = 0;
    const first = await rerank('once');
    assert.deepEqual([first.status, first.header('status'), first.cost], [200, 'MISS', 0.002], first.text);
    const second = await rerank('once');
    assert.deepEqual([second.status, second.header('status'), second.cost], [200, 'HIT', 0], second.text);
    assert.equal(fake.seen.length, 1);
    assert.equal(second.results, first.results);
    assert.match(second.results ?? '', /0\.9100.*"id":7/);
    assert.notEqual(second.body['id'], first.body['id']);
    assert.equal(second.header('source-id'), first.body['id']);
    assert.equal(second.response.headers.get('x-provider'), first.response.headers.get('x-provider'));
    const record = await recordOf(second.response);
    assert.partialDeepStrictEqual(record, { response_cache_source_id: first.body['id'], total_cost: 0 });
  });

  test('is made anew for another request, without the header, and where the caller clears it', async () => {
    fake.answer = (_call, response) => sendJson(response, SCORES);
    await rerank('again');
    fake.seen.length = 0;
    assert.equal((await rerank('again', ON, { top_n: 1 })).header('status'), 'MISS');
    assert.equal((await rerank('again', {})).header('status'), null);
    assert.equal((await rerank('again', { ...ON, 'x-service-cache-clear': 'true' })).header('status'), 'MISS');
    assert.equal(fake.seen.length, 3);
    assert.equal((await rerank('again')).header('status'), 'HIT');
  });

  test('is none where the provider failed', async () => {
    fake.answer = (_call, response) => sendJson(response, { message: 'no' }, 500);
    assert.ok((await rerank('broken')).status >= 500);
    fake.answer = (_call, response) => sendJson(response, SCORES);
    assert.equal((await rerank('broken')).header('status'), 'MISS');
  });
});

// @spec cache-13
test('vectors from the cache are the same, to the digit, and cost nothing', async () => {
  fake.answer = (_call, response) =>
    sendJson(
      response,
      '{"data":[{"index":0,"embedding":[0.10,2e-3]},{"index":1,"embedding":[1,-0]}],"usage":{"prompt_tokens":4}}',
    );
  fake.seen.length = 0;
  const embed = async () => {
    const response = await gateway.post('/embeddings', { model: 'a/vectors', input: ['x', 'y'] }, ON);
    return { text: await response.text(), status: response.headers.get('x-service-cache-status') };
  };
  const [first, second] = [await embed(), await embed()];
  assert.deepEqual([first.status, second.status], ['MISS', 'HIT'], second.text);
  assert.equal(fake.seen.length, 1);
  const dataIn = (text: string): string | undefined => /"data":\[.*\](?=,)/.exec(text)?.[0];
  assert.equal(dataIn(second.text), dataIn(first.text));
  assert.match(second.text, /\[0\.10,2e-3\]/);
  assert.match(second.text, /"prompt_tokens":0,"total_tokens":0,"cost":0/);
});
