import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson, type RawCall } from '../support/upstreams/raw-upstream.ts';

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  const model = (kind: string, provider: string, name: string): string =>
    `{ output_modalities: [${kind}], endpoints: [{ provider: ${provider}, model: "${name}", price: { prompt: 1, completion: 0, search_unit: 0.002 } }] }`;
  gateway = await startGateway({
    yaml: `
providers:
  bedrock: { base_url: "${upstream.url}", api_key: b, options: { region: us-east-1 } }
  google-vertex: { base_url: "${upstream.url}", api_key: v }
models:
  a/titan: ${model('embeddings', 'bedrock', 'amazon.titan-embed-text-v2:0')}
  a/titan-1: ${model('embeddings', 'bedrock', 'amazon.titan-embed-text-v1')}
  a/nova: ${model('embeddings', 'bedrock', 'amazon.nova-2-multimodal-embeddings-v1:0')}
  a/cohere: ${model('embeddings', 'bedrock', 'us.cohere.embed-v4:0')}
  a/vertex: ${model('embeddings', 'google-vertex', 'text-embedding-005')}
  a/ranks: ${model('rerank', 'bedrock', 'cohere.rerank-v3-5:0')}
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

type Answer = (call: RawCall) => JsonObject;

async function embed(model: string, answer: Answer, more: JsonObject = {}): Promise<JsonObject> {
  upstream.seen.length = 0;
  upstream.answer = (call, response) => sendJson(response, answer(call));
  const response = await gateway.post('/embeddings', { model, input: ['one', 'two'], ...more });
  return { ...((await response.json()) as JsonObject), status: response.status };
}

const vectorsOf = ({ data }: JsonObject): unknown =>
  (data as { embedding: unknown }[]).map(({ embedding }) => embedding);
const tokensOf = ({ usage }: JsonObject): unknown => (usage as { prompt_tokens: unknown }).prompt_tokens;
/** Parts are called side by side. */
const sent = (): readonly JsonObject[] =>
  upstream.seen.map(({ body }) => body).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
/** A vector that shows its text. */
const numberOf = (text: unknown): number => (text === 'one' ? 1 : 2);

suite('embeddings of clouds', () => {
  // @spec embeddings-15
  test('come from Titan one text a call, in order, with its own counts', async () => {
    const body = await embed(
      'a/titan',
      ({ body: { inputText } }) => ({ embedding: [numberOf(inputText), 0.5], inputTextTokenCount: 4 }),
      { dimensions: 2 },
    );
    assert.deepEqual(
      [vectorsOf(body), tokensOf(body)],
      [
        [
          [1, 0.5],
          [2, 0.5],
        ],
        8,
      ],
    );
    assert.deepEqual(sent(), [
      { inputText: 'one', dimensions: 2 },
      { inputText: 'two', dimensions: 2 },
    ]);
    assert.equal(upstream.seen[0]?.path, '/model/amazon.titan-embed-text-v2%3A0/invoke');
    const refused = await embed('a/titan-1', () => ({}), { dimensions: 2 });
    assert.deepEqual([refused['status'], upstream.seen.length], [400, 0]);
  });

  // @spec embeddings-15
  test('come from Nova with the purpose in its words', async () => {
    const body = await embed(
      'a/nova',
      ({ body: { singleEmbeddingParams } }) => {
        const { text } = singleEmbeddingParams as { text: { value: string } };
        return { embeddings: [{ embeddingType: 'TEXT', embedding: [numberOf(text.value)] }], inputTokenCount: 3 };
      },
      { input_type: 'query', dimensions: 1 },
    );
    assert.deepEqual([vectorsOf(body), tokensOf(body)], [[[1], [2]], 6]);
    assert.deepEqual(sent()[0], {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_RETRIEVAL',
        embeddingDimension: 1,
        text: { truncationMode: 'NONE', value: 'one' },
      },
    });
  });

  // @spec embeddings-15
  test('come from Cohere at Amazon in one call, in both of its forms', async () => {
    for (const embeddings of [[[1], [2]], { float: [[1], [2]] }]) {
      const body = await embed('a/cohere', () => ({ id: 'c', embeddings, texts: ['one', 'two'] }));
      assert.deepEqual(vectorsOf(body), [[1], [2]]);
    }
    assert.deepEqual(sent(), [{ truncate: 'NONE', texts: ['one', 'two'], input_type: 'search_document' }]);
  });

  // @spec embeddings-15
  test('come from Vertex by a prediction for each text', async () => {
    const body = await embed(
      'a/vertex',
      () => ({
        predictions: [
          { embeddings: { statistics: { truncated: false, token_count: 2 }, values: [1, 0] } },
          { embeddings: { values: [2, 0], statistics: { token_count: 3 } } },
        ],
      }),
      { input_type: 'search_query', dimensions: 2 },
    );
    assert.deepEqual(
      [vectorsOf(body), tokensOf(body)],
      [
        [
          [1, 0],
          [2, 0],
        ],
        5,
      ],
    );
    assert.match(upstream.seen[0]?.path ?? '', /\/publishers\/google\/models\/text-embedding-005:predict$/);
    assert.deepEqual(sent(), [
      {
        instances: [
          { content: 'one', task_type: 'RETRIEVAL_QUERY' },
          { content: 'two', task_type: 'RETRIEVAL_QUERY' },
        ],
        parameters: { autoTruncate: false, outputDimensionality: 2 },
      },
    ]);
  });

  // @spec embeddings-15
  test('are failures where the answer holds no vector', async () => {
    for (const [model, answer] of [
      ['a/titan', { message: 'x' }],
      ['a/cohere', { embeddings: [] }],
      ['a/vertex', { predictions: [{}] }],
    ] as const)
      assert.equal((await embed(model, () => answer))['status'], 502, model);
  });
});

// @spec rerank-10
test('documents are ordered by Cohere at Amazon', async () => {
  upstream.seen.length = 0;
  upstream.answer = (_call, response) =>
    sendJson(response, {
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ],
    });
  const body = { model: 'a/ranks', query: 'q', documents: ['a', { text: 'b' }], top_n: 2 };
  const answer = (await (await gateway.post('/rerank', body)).json()) as { results: { index: number }[] };
  assert.deepEqual(
    answer.results.map(({ index }) => index),
    [1, 0],
  );
  assert.equal(upstream.seen[0]?.path, '/model/cohere.rerank-v3-5%3A0/invoke');
  assert.deepEqual(upstream.seen[0]?.body, { query: 'q', documents: ['a', 'b'], top_n: 2, api_version: 2 });
});
