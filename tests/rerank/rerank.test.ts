import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startJsonUpstream, textIn, type JsonAnswer, type JsonUpstream } from '../support/upstreams/json-upstream.ts';

/** The score of a text is the number in it, in digits that no parser keeps. */
function scoresOf(texts: unknown): readonly string[] {
  assert.ok(Array.isArray(texts));
  return texts.map((text) => `0.${JSON.stringify(text).replaceAll(/\D/g, '')}00`);
}

function listOf(scores: readonly string[], name: string): string {
  return scores.map((score, index) => `{"index":${index}, "${name}": ${score}}`).join(' ,');
}

const cohereForm: JsonAnswer = ({ body }) => ({
  body: `{"id":"c-1","results":[${listOf(scoresOf(body['documents']), 'relevance_score')}],"meta":{"billed_units":{"search_units":2}}}`,
});
const teiForm: JsonAnswer = ({ body }) => ({ body: `[${listOf(scoresOf(body['texts']), 'score')}]` });
const voyageForm: JsonAnswer = ({ body }) => ({
  body: `{"object":"list","data":[${listOf(scoresOf(body['documents']), 'relevance_score')}],"usage":{"total_tokens":40}}`,
});

/** @source deepinfra.com, page "API" of Qwen/Qwen3-Reranker-8B (2026-11): pairs of equal number */
const deepInfraForm: JsonAnswer = ({ body }) => {
  const { queries, documents } = body;
  assert.ok(Array.isArray(queries) && Array.isArray(documents) && queries.length === documents.length);
  assert.deepEqual(Object.keys(body), ['queries', 'documents']);
  const scores = documents.map((text) => `0.${JSON.stringify(text).replaceAll(/\D/g, '')}00`);
  return { body: `{"scores": [ ${scores.join(' , ')} ], "input_tokens": 42, "request_id": null}` };
};

interface Result {
  readonly index: unknown;
  readonly relevance_score: unknown;
  readonly document: unknown;
}

function resultsOf(body: JsonObject): readonly Result[] {
  const { results } = body;
  assert.ok(Array.isArray(results), JSON.stringify(body));
  return results.map((result: unknown) => {
    assert.ok(isJsonObject(result));
    return { index: result['index'], relevance_score: result['relevance_score'], document: result['document'] };
  });
}

describe('POST /rerank', () => {
  let cohere: JsonUpstream;
  let second: JsonUpstream;
  let tei: JsonUpstream;
  let voyage: JsonUpstream;
  let deepInfra: JsonUpstream;
  let gateway: RunningGateway;

  before(async () => {
    [cohere, second, tei, voyage, deepInfra] = await Promise.all([
      startJsonUpstream(cohereForm),
      startJsonUpstream(cohereForm),
      startJsonUpstream(teiForm),
      startJsonUpstream(voyageForm),
      startJsonUpstream(deepInfraForm),
    ]);
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: "${cohere.url}/v1", api_key: key-a }
  beta: { adapter: openai-compatible, name: Beta, base_url: "${second.url}/v1", api_key: key-b }
  local: { adapter: tei, base_url: "${tei.url}" }
  voyage: { base_url: "${voyage.url}/v1", api_key: key-c }
  cohere: { base_url: "${cohere.url}/v2", api_key: key-d }
  deepinfra: { base_url: "${deepInfra.url}/v1/openai", api_key: key-e }
models:
  acme/rank:
    output_modalities: [rerank]
    endpoints:
      - { provider: alpha, model: r1, price: { prompt: 0, completion: 0, search_unit: 0.002 } }
      - { provider: beta, model: r1, price: { prompt: 0, completion: 0, search_unit: 0.002 } }
  acme/pointwise:
    output_modalities: [rerank]
    endpoints: [{ provider: local, model: bge, price: { prompt: 1, completion: 0 } }]
  acme/voyage:
    output_modalities: [rerank]
    endpoints: [{ provider: voyage, model: rerank-2.5, price: { prompt: 0.05, completion: 0 } }]
  acme/qwen:
    output_modalities: [rerank]
    endpoints: [{ provider: deepinfra, model: Qwen/Qwen3-Reranker-8B, price: { prompt: 0.05, completion: 0 } }]
  acme/vectors:
    output_modalities: [embeddings]
    endpoints: [{ provider: alpha, model: v1, price: { prompt: 1, completion: 0 } }]
`,
    });
  });

  after(async () => {
    await gateway.close();
    await Promise.all([cohere, second, tei, voyage, deepInfra].map((upstream) => upstream.close()));
  });

  async function ask(body: JsonObject, path = '/rerank') {
    for (const upstream of [cohere, second, tei, voyage, deepInfra]) upstream.seen.length = 0;
    const response = await gateway.post(path, body);
    const text = await response.text();
    return { status: response.status, text, body: parseJsonObject(text) ?? {}, headers: response.headers };
  }

  const documents = ['n12', { text: 'n7', id: 7 }, 'n31'];

  // @spec rerank-2, rerank-3
  test('orders documents at upstreams of every form, with the digits of their scores (pain 7)', async () => {
    for (const model of ['acme/rank', 'acme/pointwise', 'acme/voyage', 'acme/qwen', 'cohere/rerank-x']) {
      const { status, text, body } = await ask({ model, query: 'q', documents, top_n: 2 });
      assert.equal(status, 200, text);
      assert.deepEqual(
        resultsOf(body).map(({ index, document }) => [index, document]),
        [
          [1, { text: 'n7', id: 7 }],
          [2, { text: 'n31' }],
        ],
        model,
      );
      assert.match(text, /"relevance_score":0\.700,/);
      assert.equal(body['model'], model);
    }
  });

  // @spec rerank-11
  test('calls each upstream in its own words', async () => {
    await ask({ model: 'acme/rank', query: 'q', documents, top_n: 2, own: 1 });
    assert.deepEqual(cohere.seen, [
      {
        path: '/v1/rerank',
        body: { own: 1, model: 'r1', query: 'q', documents: ['n12', 'n7', 'n31'], top_n: 2, return_documents: false },
      },
    ]);
    await ask({ model: 'acme/pointwise', query: 'q', documents: ['n1'] });
    assert.deepEqual(tei.seen, [
      { path: '/rerank', body: { query: 'q', texts: ['n1'], raw_scores: false, return_text: false, truncate: true } },
    ]);
    const { body: ranked } = await ask({ model: 'acme/qwen', query: 'q', documents: ['n1', 'n2'], top_n: 1 });
    assert.deepEqual(deepInfra.seen, [
      {
        path: '/v1/inference/Qwen/Qwen3-Reranker-8B',
        body: { queries: ['q', 'q'], documents: ['n1', 'n2'] },
      },
    ]);
    assert.ok(isJsonObject(ranked['usage']));
    assert.deepEqual([ranked['usage']['total_tokens'], ranked['usage']['cost']], [42, 0.000_002_1]);
    await ask({ model: 'acme/voyage', query: 'q', documents: ['n1'], top_n: 5 });
    assert.deepEqual(voyage.seen, [
      {
        path: '/v1/rerank',
        body: {
          model: 'rerank-2.5',
          query: 'q',
          documents: ['n1'],
          top_k: 1,
          return_documents: false,
          truncation: true,
        },
      },
    ]);
    await ask({ model: 'cohere/rerank-x', query: 'q', documents: ['n1'] });
    assert.equal(cohere.seen[0]?.path, '/v2/rerank');
  });

  // @spec rerank-4
  test('cuts a long list only where each document is scored by itself, and merges the parts', async () => {
    const many = Array.from({ length: 70 }, (_, index) => `n${index + 10}`);
    const { body } = await ask({ model: 'acme/pointwise', query: 'q', documents: many, top_n: 2 });
    assert.equal(tei.seen.length, 3);
    assert.deepEqual(
      resultsOf(body).map(({ index }) => index),
      [69, 68],
    );
    const tooMany = await ask({
      model: 'sandbox/rerank',
      query: 'q',
      documents: Array.from({ length: 10_001 }, () => 'x'),
    });
    assert.equal(tooMany.status, 400);
    assert.match(tooMany.text, /"param":"documents"/);
  });

  // @spec rerank-5, money-47
  test('charges search units or tokens, as the endpoint is priced, and records them', async () => {
    const byUnit = await ask({ model: 'acme/rank', query: 'q', documents });
    assert.deepEqual(usageOf(byUnit.body, 'search_units', 'cost'), [2, 0.004]);
    assert.ok(isJsonObject(byUnit.body['meta']));
    assert.deepEqual(byUnit.body['meta']['billed_units'], { search_units: 2 });
    const byToken = await ask({ model: 'acme/voyage', query: 'q', documents });
    assert.deepEqual(usageOf(byToken.body, 'total_tokens', 'cost'), [40, 0.000002]);
    const estimated = await ask({ model: 'acme/pointwise', query: 'q', documents });
    assert.deepEqual(usageOf(estimated.body, 'total_tokens', 'cost'), [6, 0.000006]);
    const record = await recordOf(textIn(byUnit.body['id']));
    assert.deepEqual(
      ['api_type', 'total_cost', 'search_units', 'num_inputs', 'usage_source'].map((name) => record[name]),
      ['rerank', 0.004, 2, 3, 'upstream'],
    );
    assert.equal((await recordOf(textIn(estimated.body['id'])))['usage_source'], 'estimated');
  });

  async function recordOf(id: string): Promise<JsonObject> {
    for (let look = 0; look < 100; look++) {
      const response = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      const data = parseJsonObject(await response.text())?.['data'];
      if (isJsonObject(data)) return data;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('no record');
  }

  function usageOf({ usage }: JsonObject, ...names: readonly string[]): readonly unknown[] {
    assert.ok(isJsonObject(usage));
    return names.map((name) => usage[name]);
  }

  // @spec rerank-6
  test('tries the next endpoint of the model, and never another model', async () => {
    cohere.answer = () => ({ status: 503, body: '{"message":"down"}' });
    try {
      const { status, body } = await ask({ model: 'acme/rank', query: 'q', documents });
      assert.deepEqual([status, body['provider']], [200, 'Beta']);
    } finally {
      cohere.answer = cohereForm;
    }
    const fallbacks = await ask({ model: 'acme/rank', models: ['acme/voyage'], query: 'q', documents });
    assert.equal(fallbacks.status, 400);
    assert.match(fallbacks.text, /"param":"models"/);
  });

  for (const [what, results] of [
    ['with a null for a score', '[{"index":0,"relevance_score":null}]'],
    ['with a text for a score', '[{"index":0,"relevance_score":"0.5"}]'],
    ['about a document that does not exist', '[{"index":1,"relevance_score":0.5}]'],
    ['about a document twice', '[{"index":0,"relevance_score":1},{"index":0,"relevance_score":0.5}]'],
    ['without results', '[]'],
    ['that is cut off', '[{"index":0,"relevance_score":0.5}'],
  ] as const)
    // @spec rerank-3
    test(`takes an answer ${what} for a failure, and charges nothing for it`, async () => {
      const faulty: JsonAnswer = () => ({ body: `{"results":${results}}` });
      cohere.answer = faulty;
      second.answer = faulty;
      try {
        assert.equal((await ask({ model: 'acme/rank', query: 'q', documents: ['n1'] })).status, 502);
        assert.deepEqual([cohere.seen.length, second.seen.length], [1, 1]);
      } finally {
        cohere.answer = cohereForm;
        second.answer = cohereForm;
      }
    });

  for (const [path, changes] of [
    ['query', { query: '' }],
    ['query', { query: undefined }],
    ['documents', { documents: undefined }],
    ['documents', { documents: [] }],
    ['documents', { documents: 'n1' }],
    ['documents[1]', { documents: ['a', 4] }],
    ['documents[0]', { documents: [''] }],
    ['documents[0]', { documents: [{ id: 1 }] }],
    ['documents[0].text', { documents: [{ text: 5 }] }],
    ['documents[0].image', { documents: [{ image: 'https://pictures.example/a.png' }] }],
    ['top_n', { top_n: 0 }],
    ['stream', { stream: true }],
    ['preset', { preset: 'p' }],
    ['raw_scores', { raw_scores: true }],
    ['model', { model: 'acme/vectors' }],
    ['model', { model: 'acme/rank:online' }],
  ] as const)
    // @spec rerank-1, rerank-7
    test(`is 400 at ${path}: ${JSON.stringify(changes).slice(0, 60)}`, async () => {
      const { status, text, body } = await ask({ model: 'acme/rank', query: 'q', documents: ['n1'], ...changes });
      assert.equal(status, 400, text);
      assert.ok(isJsonObject(body['error']));
      assert.equal(body['error']['param'], path, text);
      assert.equal(cohere.seen.length, 0);
    });

  // @spec rerank-8
  test("answers clients of Cohere at the host's root, of Voyage with a list, and of engines with texts", async () => {
    const request = { model: 'sandbox/rerank', query: 'red cat', documents: ['tax law', 'a red cat'] };
    for (const url of [`${gateway.url}/v2/rerank`, `${gateway.baseUrl}/v2/rerank`]) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      assert.equal(response.status, 200);
      const body = parseJsonObject(await response.text()) ?? {};
      assert.deepEqual(
        resultsOf(body).map(({ index }) => index),
        [1, 0],
      );
    }
    const { documents: texts, ...rest } = request;
    const voyages = await ask({ ...request, top_k: 1, truncation: true });
    assert.match(
      voyages.text,
      /"object":"list","data":\[\{"index":1,"relevance_score":[\d.]+,"document":"a red cat"\}\]/,
    );
    const engines = await ask({ ...rest, texts, return_text: false });
    assert.equal(resultsOf(engines.body)[0]?.document, undefined);
  });

  // @spec rerank-9
  test('looks through query and documents with the filters of the key, and sends what they leave', async () => {
    const manage = async (path: string, body: JsonObject): Promise<JsonObject> => {
      const response = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.ok, text);
      return parseJsonObject(text) ?? {};
    };
    const key = await manage('/keys', { name: 'filtered' });
    assert.ok(isJsonObject(key['data']));
    const guardrail = await manage('/guardrails', {
      name: 'no secrets',
      content_filters: [{ pattern: 'n31', action: 'redact', label: '[S]' }],
    });
    assert.ok(isJsonObject(guardrail['data']));
    await manage(`/guardrails/${textIn(guardrail['data']['id'])}/assignments/keys`, {
      key_hashes: [textIn(key['data']['hash'])],
    });
    for (const upstream of [cohere, second]) upstream.seen.length = 0;
    const response = await fetch(`${gateway.baseUrl}/rerank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${textIn(key['key'])}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/rank', query: 'n31?', documents: ['n1', { text: 'a n31 b', id: 3 }] }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    // Either serves the model: tests before may have put one behind the other.
    const [called, ...others] = [...cohere.seen, ...second.seen];
    assert.deepEqual(others, []);
    const sent = JSON.stringify(called?.body);
    assert.ok(!sent.includes('n31'), sent);
    assert.match(sent, /"query":"\[S\]\?"/);
    assert.match(text, /"document":\{"text":"a \[S\] b","id":3\}/);
  });
});
