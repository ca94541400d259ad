import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

/** 200 kB of text. */
const LONG = Array.from({ length: 50_000 }, () => 0.5);
/** 20 kB, as most vectors are. */
const USUAL = Array.from({ length: 1_000 }, () => 0.123_456_789_012_345_6);
const PART = 25;

async function setUp(t: TestContext): Promise<{ readonly upstream: RawUpstream; readonly gateway: RunningGateway }> {
  const upstream = new RawUpstream();
  await upstream.start();
  t.after(() => upstream.close());
  const gateway = await startGateway({
    yaml: `
# An eighth of what it leaves is for answers: less than twice what the vectors below take.
server: { memory_limit_mb: 512 }
providers:
  one: { adapter: openai-compatible, base_url: "${upstream.url}/v1", api_key: k1 }
models:
  a/long:
    output_modalities: [embeddings]
    endpoints: [{ provider: one, model: m, price: { prompt: 0, completion: 0 }, embeddings: { max_inputs: ${PART}, encodings: [float] } }]
`,
  });
  t.after(() => gateway.close());
  return { upstream, gateway };
}

const inputsOf = ({ input }: JsonObject): readonly unknown[] => (Array.isArray(input) ? input : []);
const wordsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `n${at}`);

/** Vectors whose length is said, or is not. */
function sendVectors(response: ServerResponse, vectors: readonly (readonly number[])[], saysLength: boolean): void {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  const text = JSON.stringify({ data, usage: { prompt_tokens: 1, total_tokens: 1 } });
  const headers = { 'content-type': 'application/json' };
  response.writeHead(200, saysLength ? { ...headers, 'content-length': Buffer.byteLength(text) } : headers).end(text);
}

// @spec embeddings-18
test('reads parts of a batch side by side whose lengths are not said', async (t) => {
  const { upstream, gateway } = await setUp(t);
  upstream.answer = ({ body }, response) =>
    sendVectors(
      response,
      inputsOf(body).map(() => USUAL),
      false,
    );
  const response = await gateway.post('/embeddings', { model: 'a/long', input: wordsOf(20 * PART) });
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 200));
});

// @spec embeddings-18
test('gives the memory of a round back that an endpoint has refused as too large', async (t) => {
  const { upstream, gateway } = await setUp(t);
  let refusals = 0;
  upstream.answer = ({ body }, response) => {
    const input = inputsOf(body);
    if (refusals > 0 || !input.includes('last'))
      return sendVectors(
        response,
        input.map(() => LONG),
        true,
      );
    refusals++;
    const refusal = { error: { message: 'batch size 2 > maximum allowed batch size 1' } };
    // The other parts have come by then.
    setTimeout(() => sendJson(response, refusal, 413), 1_000);
    return undefined;
  };
  const response = await gateway.post('/embeddings', {
    model: 'a/long',
    input: [...wordsOf(2 * PART), 'more', 'last'],
  });
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 200));
  assert.equal(refusals, 1);
});

// @spec embeddings-18
test('makes vectors that fit into the memory once, and not four times, for several callers at a time', async (t) => {
  const { upstream, gateway } = await setUp(t);
  upstream.answer = ({ body }, response) =>
    sendVectors(
      response,
      inputsOf(body).map(() => LONG),
      true,
    );
  const request = async (): Promise<number> => {
    const response = await gateway.post('/embeddings', {
      model: 'a/long',
      input: wordsOf(5 * PART),
      dimensions: 50_000,
    });
    await response.arrayBuffer();
    return response.status;
  };
  assert.deepEqual(await Promise.all([request(), request(), request()]), [200, 200, 200]);
});
