import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  gateway = await startGateway({
    yaml: `
providers:
  cohere: { base_url: "${upstream.url}", api_key: k }
  plain: { adapter: openai-compatible, base_url: "${upstream.url}", api_key: k }
models:
  a/cohere:
    output_modalities: [embeddings]
    endpoints: [{ provider: cohere, model: embed-v4, price: { prompt: 1, completion: 0 } }]
  a/plain:
    output_modalities: [embeddings]
    endpoints: [{ provider: plain, model: m, price: { prompt: 1, completion: 0 } }]
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

async function embed(body: JsonObject, url = `${gateway.url}/v2/embed`): Promise<{ status: number; body: JsonObject }> {
  upstream.seen.length = 0;
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

suite("embeddings in the form of Cohere's clients", () => {
  // @spec embeddings-14
  test('keep the vectors of their upstream, with what it counted, and reach Cohere as they came', async () => {
    upstream.answer = (_call, response) =>
      sendJson(response, {
        id: 'c1',
        embeddings: {
          float: [
            [0.1, 1e-7],
            [-2, 3],
          ],
        },
        meta: { billed_units: { input_tokens: 5 } },
      });
    const { body } = await embed({
      model: 'a/cohere',
      texts: ['one', 'two'],
      input_type: 'clustering',
      embedding_types: ['float'],
      output_dimension: 2,
      truncate: 'END',
    });
    assert.deepEqual(upstream.seen[0]?.body, {
      truncate: 'END',
      model: 'embed-v4',
      texts: ['one', 'two'],
      input_type: 'clustering',
      embedding_types: ['float'],
      output_dimension: 2,
    });
    const { id, usage, ...answer } = body;
    assert.equal((usage as JsonObject)['cost'], 0.000005);
    assert.match(JSON.stringify(id), /^"gen-/);
    assert.deepEqual(answer, {
      embeddings: {
        float: [
          [0.1, 1e-7],
          [-2, 3],
        ],
      },
      texts: ['one', 'two'],
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: 5 } },
      response_type: 'embeddings_by_type',
      model: 'a/cohere',
      provider: 'Cohere',
    });
  });

  // @spec embeddings-14
  test('are served by any provider, below each address that clients call', async () => {
    upstream.answer = (_call, response) =>
      sendJson(response, {
        data: [{ index: 0, embedding: 'AACAPwAAAEA=' }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    const inputs = [{ content: [{ type: 'text', text: 'one' }] }];
    const body = { model: 'a/plain', inputs, embedding_types: ['base64'], input_type: 'search_query' };
    for (const url of [`${gateway.url}/v2/embed`, `${gateway.baseUrl}/v2/embed`, `${gateway.baseUrl}/embed`]) {
      const { status, body: answer } = await embed(body, url);
      assert.equal(status, 200, JSON.stringify(answer));
      assert.deepEqual(answer['embeddings'], { base64: ['AACAPwAAAEA='] });
      assert.deepEqual(upstream.seen[0]?.body, { model: 'm', input: 'one', encoding_format: 'base64' });
    }
  });

  // @spec embeddings-14
  test('are 400 with the path of what is wrong', async () => {
    const texts = ['one'];
    for (const [more, path] of [
      [{}, 'texts'],
      [{ texts: ['one', ''] }, 'texts[1]'],
      [{ texts, inputs: [{ content: [{ type: 'text', text: 'x' }] }] }, 'inputs'],
      [
        { inputs: [{ content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
        'inputs[0].content[0].image_url.url',
      ],
      [{ inputs: [{ content: [{ type: 'text' }, { type: 'text' }] }] }, 'inputs[0].content[0].text'],
      [{ images: ['data:image/png;base64,AAAA'] }, 'images[0]'],
      [{ texts, images: ['data:image/png;base64,AAAA'] }, 'images'],
      [{ texts, embedding_types: ['float', 'int8'] }, 'embedding_types'],
      [{ texts, embedding_types: ['int8'] }, 'embedding_types[0]'],
      [{ texts, models: ['a/cohere'] }, 'models'],
    ] as const) {
      const { status, body } = await embed({ model: 'a/cohere', ...more });
      assert.equal(status, 400, JSON.stringify(more));
      assert.equal((body['error'] as JsonObject)['param'], path);
    }
  });
});
