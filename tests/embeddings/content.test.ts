import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { isPublicOrOwnAddress } from '../../src/lib/net/public-address.ts';
import { upload } from '../support/files/upload.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { textIn } from '../support/upstreams/json-upstream.ts';
import { RawUpstream, sendJson, type RawCall } from '../support/upstreams/raw-upstream.ts';

const PNG = Buffer.from('\u0089PNG\r\n\u001a\n0000', 'latin1');
const MP3 = Buffer.from('ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0000', 'latin1');
const PDF = Buffer.from('%PDF-1.7\n%%EOF\n', 'latin1');
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;
const PICTURE = dataUrl('image/png', PNG);
const text = (words: string): JsonObject => ({ type: 'text', text: words });
const picture = (url = PICTURE): JsonObject => ({ type: 'image_url', image_url: { url } });
const PAIR: JsonObject = { content: [text('a cat'), picture()] };

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  const model = (provider: string, name: string, more = ''): string =>
    `{ ${more}output_modalities: [embeddings], endpoints: [{ provider: ${provider}, model: "${name}", price: { prompt: 1, completion: 0, image_token: 2 } }] }`;
  gateway = await startGateway({
    yaml: `
providers:
  google: { base_url: "${upstream.url}", api_key: g }
  google-vertex: { base_url: "${upstream.url}", api_key: v }
  cohere: { base_url: "${upstream.url}", api_key: c }
  voyage: { base_url: "${upstream.url}/v1", api_key: y }
  jina: { base_url: "${upstream.url}/v1", api_key: j }
  openrouter: { base_url: "${upstream.url}/v1", api_key: o }
  bedrock: { base_url: "${upstream.url}", api_key: b, options: { region: us-east-1 } }
  plain: { adapter: openai-compatible, base_url: "${upstream.url}/v1", api_key: p }
models:
  a/gemini: ${model('google', 'gemini-embedding-2')}
  a/vertex: ${model('google-vertex', 'gemini-embedding-2')}
  a/cohere: ${model('cohere', 'embed-v4.0')}
  a/voyage: ${model('voyage', 'voyage-multimodal-3.5')}
  a/jina: ${model('jina', 'jina-embeddings-v4')}
  a/router: ${model('openrouter', 'x/sees')}
  a/titan: ${model('bedrock', 'amazon.titan-embed-text-v2:0')}
  a/plain: ${model('plain', 'words')}
  a/texts: ${model('google', 'gemini-embedding-2', 'input_modalities: [text], ')}
  a/looks: ${model('google', 'gemini-embedding-2', 'input_modalities: [text, image], ')}
`,
    downloads: { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'] },
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

type Answer = (call: RawCall) => JsonObject;

async function embed(
  model: string,
  input: readonly unknown[],
  answer: Answer = () => ({}),
  path = '/embeddings',
): Promise<JsonObject> {
  upstream.seen.length = 0;
  upstream.answer = (call, response) => sendJson(response, answer(call));
  const response = await gateway.post(path, { model, input });
  return { ...((await response.json()) as JsonObject), status: response.status };
}

const vectorsOf = ({ data }: JsonObject): unknown =>
  (data as { embedding: unknown }[]).map(({ embedding }) => embedding);
const paramOf = ({ error }: JsonObject): unknown => (error as JsonObject)['param'];
const listed = (...vectors: readonly (readonly number[])[]): JsonObject => ({
  data: vectors.map((embedding, index) => ({ index, embedding })),
  usage: { total_tokens: 9 },
});

const requestsOf = (call: RawCall | undefined): readonly JsonObject[] => (call?.body ?? {})['requests'] as JsonObject[];
const bodySent = (): JsonObject => upstream.seen[0]?.body ?? {};

async function manage(path: string, body: JsonObject): Promise<JsonObject> {
  const response = await gateway.post(path, body, { authorization: `Bearer ${MANAGEMENT_KEY}` });
  assert.ok(response.ok, await response.clone().text());
  return (await response.json()) as JsonObject;
}

async function createKey(): Promise<{ readonly key: string; readonly hash: string }> {
  const { key, data } = await manage('/keys', { name: 'filtered' });
  return { key: textIn(key), hash: textIn((data as JsonObject)['hash']) };
}

// @spec embeddings-17
suite('content of several kinds', () => {
  test('goes to Gemini with its bytes, one vector for each item, and its tokens are counted by kind', async () => {
    const items = [
      PAIR,
      { content: [{ type: 'input_audio', input_audio: { data: MP3.toString('base64'), format: 'mp3' } }] },
      { content: [{ type: 'input_file', input_file: { data: PDF.toString('base64') } }] },
    ];
    const body = await embed('a/gemini', items, () => ({
      embeddings: [{ values: [1] }, { values: [2] }, { values: [3] }],
      usageMetadata: {
        promptTokenCount: 300,
        promptTokenDetails: [
          { modality: 'TEXT', tokenCount: 12 },
          { modality: 'IMAGE', tokenCount: 258 },
          { modality: 'AUDIO', tokenCount: 30 },
        ],
      },
    }));
    assert.deepEqual(vectorsOf(body), [[1], [2], [3]]);
    assert.partialDeepStrictEqual(body['usage'], {
      prompt_tokens: 300,
      prompt_tokens_details: { text_tokens: 12, image_tokens: 258, audio_tokens: 30 },
      // 42 at 1 and 258 at 2 USD a million.
      cost: 0.000558,
    });
    const found = await fetch(`${gateway.baseUrl}/generation?id=${textIn(body['id'])}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { data } = (await found.json()) as { data: JsonObject };
    assert.partialDeepStrictEqual(data, { api_type: 'embeddings', num_media_prompt: 3, num_input_audio_prompt: 1 });
    const part = (mimeType: string, bytes: Buffer): JsonObject => ({
      inlineData: { mimeType, data: bytes.toString('base64') },
    });
    assert.deepEqual(
      requestsOf(upstream.seen[0]).map(({ content }) => content),
      [
        { parts: [{ text: 'a cat' }, part('image/png', PNG)] },
        { parts: [part('audio/mpeg', MP3)] },
        { parts: [part('application/pdf', PDF)] },
      ],
    );
  });

  test('goes to Google Cloud one item a call', async () => {
    const body = await embed('a/vertex', [PAIR, { content: [text('a dog')] }], ({ body: { content } }) => ({
      embedding: { values: [(content as { parts: unknown[] }).parts.length, 0.5] },
      usageMetadata: { promptTokenCount: 5 },
      truncated: false,
    }));
    assert.deepEqual(vectorsOf(body), [
      [2, 0.5],
      [1, 0.5],
    ]);
    assert.equal((body['usage'] as JsonObject)['prompt_tokens'], 10);
    assert.match(upstream.seen[0]?.path ?? '', /\/publishers\/google\/models\/gemini-embedding-2:embedContent$/);
  });

  test('goes to Cohere, Voyage, Jina and OpenRouter in their words', async () => {
    const cohere = await embed('a/cohere', [PAIR, { content: [text('a dog')] }], () => ({
      embeddings: { float: [[1], [2]] },
      meta: { billed_units: { input_tokens: 4, image_tokens: 6 } },
    }));
    assert.deepEqual(upstream.seen[0]?.body['inputs'], [
      { content: [text('a cat'), picture()] },
      { content: [text('a dog')] },
    ]);
    assert.partialDeepStrictEqual(cohere['usage'], {
      prompt_tokens: 10,
      prompt_tokens_details: { text_tokens: 4, image_tokens: 6 },
    });

    await embed('a/voyage', [PAIR], () => listed([1]));
    assert.equal(upstream.seen[0]?.path, '/v1/multimodalembeddings');
    assert.deepEqual(upstream.seen[0]?.body, {
      truncation: false,
      model: 'voyage-multimodal-3.5',
      inputs: [{ content: [text('a cat'), { type: 'image_base64', image_base64: PICTURE }] }],
    });

    await embed('a/jina', [{ content: [picture()] }, { content: [text('a dog')] }], () => listed([1], [2]));
    assert.deepEqual(bodySent()['input'], [{ image: PNG.toString('base64') }, { text: 'a dog' }]);

    await embed('a/router', [PAIR, { content: [text('a dog')] }], () => listed([1], [2]));
    assert.deepEqual(bodySent()['input'], [PAIR, { content: [text('a dog')] }]);
  });

  test('is fetched from addresses and from stored files of the workspace', async () => {
    upstream.seen.length = 0;
    const { body: stored } = await upload(gateway, Uint8Array.from(PNG), { name: 'a.png' });
    upstream.answer = ({ path }, response) =>
      path === '/picture.png'
        ? void response.end(PNG)
        : sendJson(response, { embeddings: [{ values: [1] }, { values: [2] }] });
    const response = await gateway.post('/embeddings', {
      model: 'a/gemini',
      input: [
        { content: [picture(`${upstream.url}/picture.png`)] },
        { content: [{ type: 'image_url', image_url: { file_id: textIn(stored['id']) } }] },
      ],
    });
    assert.equal(response.status, 200, await response.clone().text());
    const call = upstream.seen.find(({ path }) => path.includes('batchEmbedContents'));
    const data = requestsOf(call).map(({ content }) => content);
    assert.deepEqual(data[0], data[1]);
  });

  test('reaches no model that does not read it', async () => {
    const sound = { content: [{ type: 'input_audio', input_audio: { data: MP3.toString('base64') } }] };
    const cases: readonly (readonly [string, unknown, string])[] = [
      ['a/texts', PAIR, 'input[0].content[1].image_url.url'],
      ['a/looks', sound, 'input[0].content[0].input_audio.data'],
      ['a/titan', PAIR, 'input[0].content[1].image_url.url'],
      ['a/plain', PAIR, 'input[0].content[1].image_url.url'],
      ['a/jina', PAIR, 'input[0].content[1].image_url.url'],
      ['a/cohere', sound, 'input[0].content[0].input_audio.data'],
      ['a/voyage', sound, 'input[0].content[0].input_audio.data'],
    ];
    for (const [model, item, param] of cases) {
      const body = await embed(model, [item]);
      assert.deepEqual([body['status'], paramOf(body), upstream.seen.length], [400, param, 0], model);
    }
  });

  test('that is wrong is 400 at its path', async () => {
    const cases: readonly (readonly [readonly unknown[], string])[] = [
      [[PAIR, 'a text'], 'input[1]'],
      [['a text', PAIR], 'input[1]'],
      [[{}], 'input[0].content'],
      [[{ content: [] }], 'input[0].content'],
      [[{ content: [{ type: 'smell' }] }], 'input[0].content[0].type'],
      [[{ content: [text('')] }], 'input[0].content[0].text'],
      [[{ content: [{ type: 'image_url' }] }], 'input[0].content[0].image_url'],
      [[{ content: [picture('ftp://x')] }], 'input[0].content[0].image_url.url'],
      [[{ content: [picture(dataUrl('image/png', MP3))] }], 'input[0].content[0].image_url.url'],
      [[{ content: [{ type: 'input_audio', input_audio: { data: '!' } }] }], 'input[0].content[0].input_audio.data'],
      [
        [{ content: [{ type: 'input_file', input_file: { file_id: 'file-1' } }] }],
        'input[0].content[0].input_file.file_id',
      ],
      [Array.from({ length: 33 }, () => ({ content: [picture()] })), 'input[32].content[0].image_url.url'],
    ];
    for (const [input, param] of cases) {
      const body = await embed('a/gemini', input);
      assert.deepEqual([body['status'], paramOf(body)], [400, param], JSON.stringify(input).slice(0, 100));
    }
    assert.equal(upstream.seen.length, 0);
  });

  // @spec embeddings-14
  test('comes from clients of Cohere, too', async () => {
    upstream.seen.length = 0;
    upstream.answer = (_call, response) =>
      sendJson(response, { embeddings: { float: [[1]] }, meta: { billed_units: { image_tokens: 6 } } });
    for (const body of [{ inputs: [{ content: [text('a cat'), picture()] }] }, { images: [PICTURE] }]) {
      const response = await gateway.post('/v2/embed', { model: 'a/cohere', input_type: 'image', ...body });
      assert.equal(response.status, 200, await response.clone().text());
    }
    assert.deepEqual(
      upstream.seen.map(({ body }) => body['inputs']),
      [[{ content: [text('a cat'), picture()] }], [{ content: [picture()] }]],
    );
    const twice = await gateway.post('/v2/embed', { model: 'a/cohere', texts: ['a'], images: [PICTURE] });
    assert.equal(twice.status, 400);
  });

  // @spec embeddings-12
  test('is looked through by the filters of a key, texts and tokens too', async () => {
    const { key, hash } = await createKey();
    await manage('/guardrails', {
      name: 'no secrets',
      content_filters: [{ pattern: 'n31', action: 'redact', label: '[S]' }],
    }).then(({ data }) =>
      manage(`/guardrails/${textIn((data as JsonObject)['id'])}/assignments/keys`, { key_hashes: [hash] }),
    );
    const ask = (input: unknown): Promise<Response> =>
      gateway.post('/embeddings', { model: 'a/gemini', input }, { authorization: `Bearer ${key}` });
    upstream.seen.length = 0;
    upstream.answer = (_call, response) => sendJson(response, { embeddings: [{ values: [1] }, { values: [2] }] });
    const contents = [{ content: [text('a n31'), picture(), text('n31')] }, { content: [text('two')] }];
    assert.equal((await ask(contents)).status, 200);
    assert.equal((await ask(['n31 a', 'two'])).status, 200);
    const texts = upstream.seen.map(({ body }) => JSON.stringify(body).match(/"text":"[^"]*"/g));
    assert.deepEqual(texts, [
      ['"text":"a [S]"', '"text":"[S]"', '"text":"two"'],
      ['"text":"[S] a"', '"text":"two"'],
    ]);
    const tokens = await ask([[1, 2]]);
    assert.deepEqual([tokens.status, paramOf((await tokens.json()) as JsonObject)], [400, 'input']);
  });

  test('has a vector of the sandbox that no other content has', async () => {
    const body = await embed('sandbox/embed', [PAIR, PAIR, { content: [text('a cat')] }, { content: [picture()] }]);
    assert.equal(body['status'], 200, JSON.stringify(body).slice(0, 300));
    const [one, same, ...others] = vectorsOf(body) as readonly unknown[];
    assert.deepEqual(one, same);
    for (const other of others) assert.notDeepEqual(one, other);
  });

  test('refuses a type of a part that is none, whatever it is called', async () => {
    for (const type of ['constructor', 'toString', '__proto__', 'input_image']) {
      const body = await embed('a/gemini', [{ content: [{ type, [type]: { data: 'AAAA' } }] }]);
      assert.equal(body['status'], 400, type);
      assert.match(String(paramOf(body)), /^input\[0\]\.content\[0\]/, type);
    }
  });

  test('takes a purpose that is called like a member of all objects for a word of the host', async () => {
    for (const model of ['a/gemini', 'a/cohere', 'a/jina', 'a/voyage']) {
      upstream.seen.length = 0;
      upstream.answer = (_call, response) => sendJson(response, { error: { message: 'no such task' } }, 400);
      const response = await gateway.post('/embeddings', { model, input: 'x', input_type: '__proto__' });
      assert.equal(response.status, 400, model);
      assert.doesNotMatch(JSON.stringify(bodySent()), /\{\}/, model);
    }
  });
});
