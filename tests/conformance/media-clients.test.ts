import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIEmbeddings } from '@langchain/openai';
import { embed, embedMany, generateImage, generateSpeech, transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { formOf, RawUpstream, sendJson, type RawCall } from '../support/upstreams/raw-upstream.ts';

const PNG = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []);
const B64 = PNG.toString('base64');
const SOUND = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]);
const SAID = 'What was said.';
/** More than there are in one call of some clients. */
const TEXTS = ['one', 'two', 'three'];

/**
 * The vendor whose clients these are: base64 where it is wanted, numbers else.
 * @source openai 7.55, `resources/embeddings.ts`, `images.ts`, `audio/*.ts` (2026-11)
 */
async function answerAsVendor(call: RawCall, response: ServerResponse): Promise<void> {
  const { path, body } = call;
  if (path.endsWith('/embeddings')) return sendVectors(call, response);
  if (path.endsWith('/images/generations') && body['stream'] !== true)
    return sendJson(response, { created: 1, data: [{ b64_json: B64 }], usage: USAGE });
  if (path.includes('/images/')) {
    const isStream =
      body['stream'] === true || (path.endsWith('/edits') && (await formOf(call)).get('stream') === 'true');
    if (!isStream) return sendJson(response, { created: 1, data: [{ b64_json: B64 }], usage: USAGE });
    const kind = path.endsWith('/edits') ? 'image_edit' : 'image_generation';
    return sendEvents(response, [
      { type: `${kind}.partial_image`, partial_image_index: 0, b64_json: B64 },
      { type: `${kind}.completed`, b64_json: B64, usage: USAGE },
    ]);
  }
  if (path.endsWith('/audio/speech')) {
    response.writeHead(200, { 'content-type': 'audio/wav' });
    return void response.end(SOUND);
  }
  const form = await formOf(call);
  const isTranslation = path.endsWith('/translations');
  if (form.get('stream') === 'true')
    return sendEvents(response, [
      { type: 'transcript.text.delta', delta: 'What was ' },
      { type: 'transcript.text.delta', delta: 'said.' },
      { type: 'transcript.text.done', text: SAID, usage: { type: 'duration', seconds: 1 } },
    ]);
  const plain = PLAIN[wordOf(form.get('response_format'))];
  if (plain !== undefined) {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    return void response.end(plain);
  }
  if (form.get('response_format') === 'verbose_json')
    return sendJson(response, {
      task: isTranslation ? 'translate' : 'transcribe',
      language: 'english',
      duration: 1,
      text: SAID,
      segments: [{ id: 0, start: 0, end: 1, text: SAID }],
    });
  return sendJson(response, { text: SAID, usage: { type: 'duration', seconds: 1 } });
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const PLAIN: Readonly<Record<string, string>> = {
  text: `${SAID}\n`,
  srt: `1\n00:00:00,000 --> 00:00:01,000\n${SAID}\n\n`,
  vtt: `WEBVTT\n\n00:00.000 --> 00:01.000\n${SAID}\n\n`,
};
const USAGE = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };

function sendVectors({ body }: RawCall, response: ServerResponse): void {
  const { input, encoding_format: encoding } = body;
  const data = (Array.isArray(input) ? input : [input]).map((text, index) => {
    const vector = Float32Array.from([JSON.stringify(text).length, 0.5]);
    const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  sendJson(response, { object: 'list', data, model: 'm', usage: { prompt_tokens: 3, total_tokens: 3 } });
}

function sendEvents(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + 'data: [DONE]\n\n');
}

const vendor = new RawUpstream();
let gateway: RunningGateway;
let client: OpenAI;
before(async () => {
  await vendor.start();
  vendor.answer = (call, response) => void answerAsVendor(call, response);
  const price =
    'price: { prompt: 1, completion: 1, second: 0.001, character: 1, images: [{ billable: output_image, unit: image, cost_usd: 0.01 }] }';
  const model = (slug: string, kind: string, name: string): string =>
    `  ${slug}: { output_modalities: [${kind}], endpoints: [{ provider: openai, model: ${name}, ${price} }] }`;
  gateway = await startGateway({
    yaml: `
providers: { openai: { base_url: "${vendor.url}/v1", api_key: k } }
models:
${model('a/embed', 'embeddings', 'text-embedding-3-small')}
${model('a/image', 'image', 'gpt-image-2')}
${model('a/transcribe', 'transcription', 'whisper-1')}
${model('a/transcribe-stream', 'transcription', 'gpt-4o-transcribe')}
${model('a/speech', 'speech', 'gpt-4o-mini-tts')}
`,
  });
  client = new OpenAI({ apiKey: API_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
});
after(async () => {
  await gateway.close();
  vendor.close();
});

// What the sandbox hears is what it spoke: `tests/media/audio-sandbox.test.ts`.
for (const [name, author] of [
  ['the sandbox', 'sandbox'],
  ['a vendor', 'a'],
] as const) {
  const width = author === 'a' ? 2 : 256;

  describe(`clients of further kinds, at ${name}`, () => {
    // @spec embeddings-2
    test('openai gets vectors, with the default encoding and in numbers', async () => {
      const asDefault = await client.embeddings.create({ model: `${author}/embed`, input: TEXTS });
      const asFloat = await client.embeddings.create({
        model: `${author}/embed`,
        input: TEXTS,
        encoding_format: 'float',
      });
      const plain = (list: typeof asDefault): readonly number[][] => list.data.map(({ embedding }) => embedding);
      assert.deepEqual(plain(asDefault), plain(asFloat));
      assert.deepEqual(
        plain(asDefault).map(({ length }) => length),
        [width, width, width],
      );
    });

    test('the AI SDK gets one vector and many', async () => {
      const provider = createOpenAICompatible({ name: 'gateway', baseURL: gateway.baseUrl, apiKey: API_KEY });
      const model = provider.embeddingModel(`${author}/embed`);
      const one = await embed({ model, value: 'one' });
      const many = await embedMany({ model, values: TEXTS });
      assert.equal(one.embedding.length, width);
      assert.deepEqual(many.embeddings[0], one.embedding);
      assert.ok(many.embeddings.length === 3 && many.usage.tokens > 0);
    });

    test('@langchain/openai gets vectors of documents and of a query', async () => {
      const model = new OpenAIEmbeddings({
        model: `${author}/embed`,
        apiKey: API_KEY,
        maxRetries: 0,
        batchSize: 2,
        configuration: { baseURL: gateway.baseUrl },
      });
      const documents = await model.embedDocuments(TEXTS);
      assert.deepEqual(documents[2], await model.embedQuery('three'));
      assert.deepEqual([documents.length, documents[0]?.length], [3, width]);
    });

    test('openai gets pictures, whole, edited and in streams', async () => {
      const model = `${author}/image`;
      const { data } = await client.images.generate({ model, prompt: 'a fox' });
      assert.match(data?.[0]?.b64_json ?? '', /^iVBOR/);
      const image = await toFile(PNG, 'a.png', { type: 'image/png' });
      const edited = await client.images.edit({ model, prompt: 'a wolf', image });
      assert.match(edited.data?.[0]?.b64_json ?? '', /^iVBOR/);
      const types: string[] = [];
      for await (const { type } of await client.images.generate({
        model,
        prompt: 'a fox',
        stream: true,
        partial_images: 1,
      }))
        types.push(type);
      assert.deepEqual(types, ['image_generation.partial_image', 'image_generation.completed']);
    });

    test('the AI SDK gets pictures', async () => {
      const provider = createOpenAICompatible({ name: 'gateway', baseURL: gateway.baseUrl, apiKey: API_KEY });
      const { image } = await generateImage({ model: provider.imageModel(`${author}/image`), prompt: 'a fox' });
      assert.equal(image.mediaType, 'image/png');
    });

    test('openai and the AI SDK get speech, as bytes and in events', async () => {
      const request = { model: `${author}/speech`, input: 'hi', voice: author === 'a' ? 'alloy' : 'one' };
      const spoken = await client.audio.speech.create({ ...request, response_format: 'wav' });
      assert.equal(Buffer.from(await spoken.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
      const events = await client.audio.speech.create({ ...request, response_format: 'wav', stream_format: 'sse' });
      assert.match(await events.text(), /"type":"speech\.audio\.delta".*"type":"speech\.audio\.done"/s);
      const openai = createOpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY });
      const { audio } = await generateSpeech({
        model: openai.speech(request.model),
        text: 'hi',
        voice: request.voice,
        outputFormat: 'wav',
      });
      assert.equal(Buffer.from(audio.uint8Array).toString('latin1', 0, 4), 'RIFF');
    });
  });
}

describe('clients that transcribe, at a vendor', () => {
  const file = (): ReturnType<typeof toFile> => toFile(SOUND, 'a.wav', { type: 'audio/wav' });

  test('openai gets a transcript in each format, and a translation', async () => {
    const model = 'a/transcribe';
    assert.equal((await client.audio.transcriptions.create({ model, file: await file() })).text, SAID);
    const verbose = await client.audio.transcriptions.create({
      model,
      file: await file(),
      response_format: 'verbose_json',
    });
    assert.deepEqual([verbose.text, verbose.segments?.length], [SAID, 1]);
    for (const [format, head] of [
      ['srt', '1\n00:00:00,000 --> 00:00:01,000\n'],
      ['vtt', 'WEBVTT\n'],
      ['text', SAID],
    ] as const) {
      const text: unknown = await client.audio.transcriptions.create({
        model,
        file: await file(),
        response_format: format,
      });
      assert.ok(typeof text === 'string' && text.startsWith(head) && text.includes(SAID), JSON.stringify(text));
    }
    const translated = await client.audio.translations.create({ model, file: await file() });
    assert.equal(translated.text, SAID);
  });

  test('openai gets a transcript in a stream, and the AI SDK one with its duration', async () => {
    const stream = await client.audio.transcriptions.create({
      model: 'a/transcribe-stream',
      file: await file(),
      stream: true,
    });
    let text = '';
    for await (const event of stream) if (event.type === 'transcript.text.delta') text += event.delta;
    assert.equal(text, SAID);
    const openai = createOpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY });
    const found = await transcribe({ model: openai.transcription('a/transcribe'), audio: SOUND });
    assert.deepEqual([found.text, found.durationInSeconds], [SAID, 1]);
  });
});
