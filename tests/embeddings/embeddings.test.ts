import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { startJsonUpstream, textIn, type JsonAnswer, type JsonUpstream } from '../support/upstreams/json-upstream.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

const NOTHING: JsonObject = {};

/** The number that a text of these tests stands for: vectors say which input they are of. */
function numberOf(text: unknown): number {
  return typeof text === 'string' ? Number(text.replaceAll(/\D/g, '') || 7) : 1;
}

function vectorOf(text: unknown): readonly number[] {
  return [numberOf(text), 0.5, -0.25];
}

function inputsOf(body: JsonObject): readonly unknown[] {
  const { input } = body;
  return Array.isArray(input) ? input : [input];
}

/** The vendor's form. Numbers are written in a way that no parser keeps. */
const openAiForm: JsonAnswer = ({ body }) => {
  const inputs = inputsOf(body);
  const data = inputs.map((text, index) => {
    const [first, ...rest] = vectorOf(text);
    const floats = `[${first}.000e0, ${rest.join(' ,')}]`;
    const base64 = JSON.stringify(Buffer.from(Float32Array.from(vectorOf(text)).buffer).toString('base64'));
    return `{"object":"embedding","index":${index},"embedding":${body['encoding_format'] === 'base64' ? base64 : floats}}`;
  });
  const tokens = inputs.length * 3;
  return {
    body: `{"object":"list","data":[${data.join(', ')}],"model":"m","usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`,
  };
};

const geminiForm: JsonAnswer = ({ body }) => {
  const { requests } = body;
  const texts = (Array.isArray(requests) ? requests : []).map((one) =>
    JSON.stringify({ values: vectorOf(JSON.stringify(one).match(/"text":"([^"]*)"/)?.[1]) }),
  );
  return { body: `{"embeddings":[${texts.join(',')}]}` };
};

const cohereForm: JsonAnswer = ({ body }) => {
  const { texts, embedding_types: types } = body;
  const list = (Array.isArray(texts) ? texts : []).map((text) =>
    types !== undefined && JSON.stringify(types) === '["base64"]'
      ? Buffer.from(Float32Array.from(vectorOf(text)).buffer).toString('base64')
      : vectorOf(text),
  );
  const type = JSON.stringify(types) === '["base64"]' ? 'base64' : 'float';
  return {
    body: JSON.stringify({
      id: 'c-1',
      embeddings: { [type]: list },
      meta: { billed_units: { input_tokens: list.length * 3 } },
    }),
  };
};

describe('POST /embeddings', () => {
  let first: JsonUpstream;
  let second: JsonUpstream;
  let gemini: JsonUpstream;
  let cohere: JsonUpstream;
  let gateway: RunningGateway;

  before(async () => {
    [first, second, gemini, cohere] = await Promise.all([
      startJsonUpstream(openAiForm),
      startJsonUpstream(openAiForm),
      startJsonUpstream(geminiForm),
      startJsonUpstream(cohereForm),
    ]);
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: "${first.url}/v1", api_key: key-a }
  beta: { adapter: openai-compatible, name: Beta, base_url: "${second.url}/v1", api_key: key-b }
  google: { base_url: "${gemini.url}/v1beta", api_key: key-c }
  cohere: { base_url: "${cohere.url}/v2", api_key: key-d }
models:
  acme/vectors:
    output_modalities: [embeddings]
    endpoints:
      - { provider: alpha, model: v1, price: { prompt: 1, completion: 0 } }
      - { provider: beta, model: v1, price: { prompt: 1, completion: 0 } }
  acme/other:
    output_modalities: [embeddings]
    endpoints: [{ provider: beta, model: other, price: { prompt: 1, completion: 0 } }]
  acme/narrow:
    output_modalities: [embeddings]
    endpoints: [{ provider: alpha, model: narrow, embeddings: { max_request_tokens: 80 } }]
  acme/words:
    output_modalities: [text]
    endpoints: [{ provider: alpha, model: words, price: { prompt: 1, completion: 0 } }]
`,
    });
  });

  after(async () => {
    await gateway.close();
    await Promise.all([first, second, gemini, cohere].map((fake) => fake.close()));
  });

  async function ask(body: JsonObject): Promise<{ status: number; text: string; body: JsonObject; headers: Headers }> {
    for (const fake of [first, second, gemini, cohere]) fake.seen.length = 0;
    const response = await gateway.post('/embeddings', body);
    const text = await response.text();
    return { status: response.status, text, body: parseJsonObject(text) ?? {}, headers: response.headers };
  }

  // @spec embeddings-2, embeddings-9
  test('passes the bytes of vectors on as their upstream wrote them, in order, with usage and cost', async () => {
    const { status, text, body, headers } = await ask({ model: 'acme/vectors', input: ['n1', 'n2'] });
    assert.equal(status, 200);
    assert.ok(text.includes('"embedding":[1.000e0, 0.5 ,-0.25]'), text);
    assert.ok(text.startsWith('{"object":"list","data":[{"object":"embedding","index":0,'), text.slice(0, 80));
    assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)));
    assert.equal(body['model'], 'acme/vectors');
    assert.equal(headers.get('x-generation-id'), body['id']);
    const { usage } = body;
    assert.ok(isJsonObject(usage));
    assert.deepEqual([usage['prompt_tokens'], usage['total_tokens'], usage['cost']], [6, 6, 6e-6]);
  });

  // @spec embeddings-11
  test('stores one record of the kind, with its charge', async () => {
    const { body } = await ask({ model: 'acme/vectors', input: 'n1' });
    const url = `${gateway.baseUrl}/generation?id=${textIn(body['id'])}`;
    const headers = { authorization: `Bearer ${API_KEY}` };
    let data: unknown;
    for (let look = 0; look < 100 && !isJsonObject(data); look++) {
      data = parseJsonObject(await (await fetch(url, { headers })).text())?.['data'];
      if (!isJsonObject(data)) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.ok(isJsonObject(data));
    assert.equal(data['api_type'], 'embeddings');
    assert.equal(data['total_cost'], 3e-6);
    assert.equal(data['finish_reason'], null);
  });

  // @spec embeddings-2
  test('gives both encodings from upstreams of every form, to the numbers of the upstream (pain 1)', async () => {
    for (const model of ['acme/vectors', 'google/gemini-embedding-001', 'cohere/embed-v4.0']) {
      const client = new OpenAI({ apiKey: API_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
      const asDefault = await client.embeddings.create({ model, input: ['n1', 'n20'] });
      const asFloat = await client.embeddings.create({ model, input: ['n1', 'n20'], encoding_format: 'float' });
      const expected = [vectorOf('n1'), vectorOf('n20')];
      assert.deepEqual(
        asDefault.data.map(({ embedding }) => embedding),
        expected,
        model,
      );
      assert.deepEqual(
        asFloat.data.map(({ embedding }) => embedding),
        expected,
        model,
      );
      const { body } = await ask({ model, input: 'n1', encoding_format: 'base64' });
      const data = body['data'];
      const item: unknown = Array.isArray(data) ? data[0] : undefined;
      assert.ok(isJsonObject(item));
      assert.equal(item['embedding'], Buffer.from(Float32Array.from(vectorOf('n1')).buffer).toString('base64'), model);
    }
  });

  // @spec embeddings-8
  test('sends no null and no empty word upstream, and says the encoding in every case (pain 2)', async () => {
    await ask({ model: 'acme/vectors', input: 'n1', dimensions: null, user: null, encoding_format: null, own: null });
    const { path, body } = first.seen[0] ?? { path: '', body: NOTHING };
    assert.equal(path, '/v1/embeddings');
    assert.deepEqual(body, { model: 'v1', input: 'n1', encoding_format: 'float' });
  });

  test('sends the end user as a hash, and unknown members as they are', async () => {
    await ask({ model: 'acme/vectors', input: 'n1', user: 'ann', truncate_prompt_tokens: 5 });
    const body = first.seen[0]?.body ?? NOTHING;
    assert.match(textIn(body['user']), /^[0-9a-f]{64}$/);
    assert.equal(body['truncate_prompt_tokens'], 5);
  });

  // @spec embeddings-6
  test('refuses tokens where no endpoint is known to read them, and names the remedy (pain 3)', async () => {
    const { status, text } = await ask({ model: 'acme/vectors', input: [[1, 2], [3]] });
    assert.equal(status, 400);
    assert.match(text, /"param":"input"/);
    assert.match(text, /check_embedding_ctx_length=False/);
    assert.equal(first.seen.length, 0);
  });

  // @spec embeddings-5
  test('tries the next endpoint of the model, and never another model (pain 4)', async () => {
    first.answer = () => ({ status: 503, body: '{"error":{"message":"down"}}' });
    try {
      const { status, body } = await ask({ model: 'acme/vectors', input: ['n1', 'n2'] });
      assert.equal(status, 200);
      assert.equal(body['provider'], 'Beta');
      assert.deepEqual(
        second.seen.map((one) => one.body['model']),
        ['v1'],
      );
      const fallbacks = await ask({ model: 'acme/vectors', models: ['acme/other'], input: 'n1' });
      assert.equal(fallbacks.status, 400);
      assert.match(fallbacks.text, /"param":"models"/);
    } finally {
      first.answer = openAiForm;
    }
  });

  // @spec embeddings-18
  test('sends half as many inputs to an endpoint that refuses so many, and remembers it', async () => {
    const most = 12;
    const tooMany = { status: 422, body: '{"error":"batch size 50 > maximum allowed batch size 12"}' };
    const answer: JsonAnswer = (seen, call) => (inputsOf(seen.body).length > most ? tooMany : openAiForm(seen, call));
    [first.answer, second.answer] = [answer, answer];
    try {
      const input = Array.from({ length: 50 }, (_, index) => `n${index}`);
      const only = { provider: { only: ['alpha'] } };
      for (const refusals of [3, 0]) {
        const { status, body, text } = await ask({ model: 'acme/vectors', input, ...only });
        assert.equal(status, 200, text);
        assert.ok(Array.isArray(body['data']));
        assert.equal(body['data'].length, 50);
        // 50, 25 and, of the next parts, as many as are called side by side.
        const refused = first.seen.filter((seen) => inputsOf(seen.body).length > most).length;
        assert.ok(refusals === 0 ? refused === 0 : refused >= 2, `${refused} calls were refused`);
      }
      first.answer = () => tooMany;
      const small = await ask({ model: 'acme/vectors', input: ['n1'], ...only });
      assert.equal(small.status, 422, 'one input is not made fewer');
      assert.equal(first.seen.length, 1);
    } finally {
      [first.answer, second.answer] = [openAiForm, openAiForm];
    }
  });

  // @spec embeddings-18
  test('learns nothing of an endpoint from one input that is too long', async () => {
    const tooLong = { status: 413, body: '{"error":"`inputs` must have less than 512 tokens. Given: 598"}' };
    const refusing =
      (refusal: { readonly status: number; readonly body: string }): JsonAnswer =>
      (seen, call) =>
        inputsOf(seen.body).includes('long') ? refusal : openAiForm(seen, call);
    const statusOf = async (input: readonly string[]) =>
      (await ask({ model: 'acme/vectors', input, provider: { only: ['alpha'] } })).status;
    try {
      for (const refusal of [tooLong, { status: 413, body: '{"error":"too large"}' }]) {
        first.answer = refusing(refusal);
        assert.notEqual(await statusOf(['m1', 'm2', 'long']), 200);
        first.seen.length = 0;
        assert.equal(await statusOf(['m3', 'm4', 'm5']), 200);
        assert.equal(first.seen.length, 1, 'all inputs in one call');
      }
    } finally {
      first.answer = openAiForm;
    }
  });

  // @spec embeddings-18
  test('calls a part once more that was rate limited or broken off, and not a whole batch', async () => {
    const input = Array.from({ length: 205 }, (_, index) => `n${index}`);
    const model = 'google/gemini-embedding-001';
    let failed = 0;
    gemini.answer = (seen, call) => {
      const isSecond = JSON.stringify(seen.body).includes('"n100"');
      if (!isSecond || failed++ > 0) return geminiForm(seen, call);
      return { status: 429, body: '{"error":{"message":"slow down"}}', headers: { 'retry-after': '0' } };
    };
    try {
      assert.equal((await ask({ model, input })).status, 200);
      assert.equal(gemini.seen.length, 4);
    } finally {
      gemini.answer = geminiForm;
    }
  });

  // @spec embeddings-18
  test('splits a batch by the tokens that one call takes', async () => {
    const words = 'word '.repeat(30);
    const { status } = await ask({ model: 'acme/narrow', input: [words, words, words] });
    assert.equal(status, 200);
    assert.deepEqual(
      first.seen.map(({ body }) => inputsOf(body).length),
      [1, 1, 1],
    );
  });

  // @spec embeddings-3
  test('joins the parts of a batch in the order of its inputs (pain 5)', async () => {
    const input = Array.from({ length: 205 }, (_, index) => `n${index}`);
    for (const model of ['google/gemini-embedding-001', 'cohere/embed-v4.0']) {
      const { status, body } = await ask({ model, input });
      assert.equal(status, 200);
      const data = body['data'];
      assert.ok(Array.isArray(data));
      const items: readonly unknown[] = data;
      const numbers = items.map((item) => {
        assert.ok(isJsonObject(item) && Array.isArray(item['embedding']));
        return [item['index'], item['embedding'][0]];
      });
      assert.deepEqual(
        numbers,
        input.map((text, index) => [index, numberOf(text)]),
        model,
      );
      assert.equal((model.startsWith('google') ? gemini : cohere).seen.length, 3, model);
    }
  });

  test('puts vectors that come in another order into that of the inputs (pain 5)', async () => {
    first.answer = () => ({
      body: '{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":2}}',
    });
    second.answer = first.answer;
    try {
      const { text } = await ask({ model: 'acme/vectors', input: ['a', 'b'] });
      assert.match(text, /"index":0,"embedding":\[1\]\},\{"object":"embedding","index":1,"embedding":\[2\]/);
    } finally {
      first.answer = openAiForm;
      second.answer = openAiForm;
    }
  });

  for (const [what, data] of [
    ['of another width than requested (pain 6)', '[{"index":0,"embedding":[1,2]}]'],
    ['of fewer vectors than inputs', '[]'],
    ['with a null in a vector', '[{"index":0,"embedding":[1,null,3]}]'],
    ['that is cut off', '[{"index":0,"embedding":[1,2,3]}'],
  ] as const) {
    // @spec embeddings-4
    test(`takes an answer ${what} for a failure, and charges nothing for it`, async () => {
      const faulty: JsonAnswer = () => ({ body: `{"data":${data},"usage":{"prompt_tokens":2}}` });
      first.answer = faulty;
      second.answer = faulty;
      try {
        const { status } = await ask({ model: 'acme/vectors', input: 'n1', dimensions: 3 });
        assert.equal(status, 502);
        assert.deepEqual([first.seen.length, second.seen.length], [1, 1]);
      } finally {
        first.answer = openAiForm;
        second.answer = openAiForm;
      }
    });
  }

  // @spec embeddings-10
  test('refuses a model of another kind, and names the routes that serve it', async () => {
    const { status, body } = await ask({ model: 'acme/words', input: 'n1' });
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /"code":"wrong_endpoint"/);
    assert.match(JSON.stringify(body), /chat\/completions/);
  });

  for (const [path, member] of [
    ['input', {}],
    ['input', { input: null }],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input[1]', { input: ['a', ''] }],
    ['input[1]', { input: ['a', [1]] }],
    ['input[0][1]', { input: [[1, -1]] }],
    ['input[0].content', { input: [{ content: [] }] }],
    ['input', { input: Array.from({ length: 2_049 }, () => 'a') }],
    ['dimensions', { input: 'a', dimensions: 0 }],
    ['encoding_format', { input: 'a', encoding_format: 'int8' }],
    ['provider.unknown', { input: 'a', provider: { unknown: 1 } }],
    ['plugins', { input: 'a', plugins: [] }],
  ] as const) {
    // @spec embeddings-1, embeddings-13
    test(`refuses ${JSON.stringify(member).slice(0, 60)} at ${path}`, async () => {
      const { status, body } = await ask({ model: 'acme/vectors', ...member });
      assert.equal(status, 400);
      const { error } = body;
      assert.ok(isJsonObject(error));
      assert.equal(error['param'], path);
    });
  }

  // @spec embeddings-7
  test('refuses dimensions that the model does not have', async () => {
    const { status, text } = await ask({ model: 'cohere/embed-v4.0', input: 'a', dimensions: 300 });
    assert.equal(status, 400);
    assert.match(text, /must be one of 256, 512, 1024, 1536/);
  });

  // @spec embeddings-9
  test('holds the price before the call, and refuses a key with too little left', async () => {
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' };
    const created = await fetch(`${gateway.baseUrl}/keys`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'poor', limit: 0.000_001 }),
    });
    const key = parseJsonObject(await created.text())?.['key'];
    first.seen.length = 0;
    const refused = await gateway.post(
      '/embeddings',
      { model: 'acme/vectors', input: 'word '.repeat(100) },
      {
        authorization: `Bearer ${textIn(key)}`,
      },
    );
    assert.equal(refused.status, 402);
    assert.equal(first.seen.length, 0);
  });

  test('serves vectors of the sandbox that are alike for texts that are alike', async () => {
    const { status, body } = await ask({ model: 'sandbox/embed', input: ['a red cat', 'a red cat sat', 'tax law'] });
    assert.equal(status, 200);
    const data = body['data'];
    assert.ok(Array.isArray(data));
    const items: readonly unknown[] = data;
    const [cat, sat, law] = items.map((item) => {
      assert.ok(isJsonObject(item) && Array.isArray(item['embedding']));
      return item['embedding'].map(Number);
    });
    const dot = (left: readonly number[] = [], right: readonly number[] = []): number =>
      left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
    assert.ok(dot(cat, sat) > 0.5 && dot(cat, law) < 0.3);
    assert.equal(cat?.length, 256);
  });
});
