import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { embedMany, rerank, type EmbeddingModel, type RerankingModel } from 'ai';
import { findClient } from '../support/clients/installed.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

/** Cohere's own client, as far as the test uses it. */
interface CohereSdk {
  readonly CohereClientV2: new (options: { readonly token: string; readonly environment: string }) => {
    rerank(request: object): Promise<{
      readonly results: readonly { readonly index: number; readonly relevanceScore: number }[];
      readonly meta?: { readonly billedUnits?: { readonly searchUnits?: number } };
    }>;
    embed(request: object): Promise<{
      readonly embeddings: { readonly float?: readonly (readonly number[])[] };
      readonly meta?: { readonly billedUnits?: { readonly inputTokens?: number } };
    }>;
  };
}

interface CohereProvider {
  readonly createCohere: (options: { readonly apiKey: string; readonly baseURL: string }) => {
    readonly reranking: (model: string) => RerankingModel;
    readonly embedding: (model: string) => EmbeddingModel;
  };
}

const cohere = findClient('cohere-ai/index.js');
const provider = findClient('@ai-sdk/cohere/dist/index.js');
const query = 'red cat';
const documents = ['tax law', 'a red cat', 'a cat'];

suite('clients of Cohere', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  // @spec rerank-8
  test("serves the vendor's own client, with the host for its address", { skip: cohere.skip }, async () => {
    assert.equal(cohere.skip, false);
    const module = (await import(pathToFileURL(cohere.path).href)) as { readonly default: CohereSdk };
    const client = new module.default.CohereClientV2({ token: API_KEY, environment: gateway.url });
    const { results, meta } = await client.rerank({ model: 'sandbox/rerank', query, documents, topN: 2 });
    assert.deepEqual(
      results.map(({ index }) => index),
      [1, 2],
    );
    assert.equal(meta?.billedUnits?.searchUnits, 1);
  });

  test('serves `rerank` of the AI SDK', { skip: provider.skip }, async () => {
    assert.equal(provider.skip, false);
    const { createCohere } = (await import(pathToFileURL(provider.path).href)) as CohereProvider;
    const model = createCohere({ apiKey: API_KEY, baseURL: gateway.baseUrl }).reranking('sandbox/rerank');
    const { rerankedDocuments } = await rerank({ model, query, documents, topN: 2 });
    assert.deepEqual(rerankedDocuments, ['a red cat', 'a cat']);
  });

  // @spec embeddings-14
  test("gives vectors to the vendor's own client", { skip: cohere.skip }, async () => {
    assert.equal(cohere.skip, false);
    const module = (await import(pathToFileURL(cohere.path).href)) as { readonly default: CohereSdk };
    const client = new module.default.CohereClientV2({ token: API_KEY, environment: gateway.url });
    const { embeddings, meta } = await client.embed({
      model: 'sandbox/embed',
      texts: documents,
      inputType: 'search_document',
      embeddingTypes: ['float'],
      outputDimension: 8,
    });
    assert.deepEqual(
      embeddings.float?.map(({ length }) => length),
      [8, 8, 8],
    );
    assert.ok((meta?.billedUnits?.inputTokens ?? 0) > 0);
  });

  // @spec embeddings-14
  test('gives vectors to `embedMany` of the AI SDK', { skip: provider.skip }, async () => {
    assert.equal(provider.skip, false);
    const { createCohere } = (await import(pathToFileURL(provider.path).href)) as CohereProvider;
    const model = createCohere({ apiKey: API_KEY, baseURL: gateway.baseUrl }).embedding('sandbox/embed');
    const { embeddings, usage } = await embedMany({ model, values: documents });
    assert.equal(embeddings.length, 3);
    assert.ok(usage.tokens > 0);
  });
});
