import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
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
  films: { adapter: xai, base_url: ${fake.url}/v1, api_key: k2 }
models:
  a/vectors: { output_modalities: [embeddings], endpoints: [{ provider: one, model: v, embeddings: { dimensions: { default: 2 }, max_inputs: 1, encodings: [float] } }] }
  a/ranks: { output_modalities: [rerank], endpoints: [{ provider: one, model: r, rerank: { max_documents: 2 } }] }
  a/draws: { output_modalities: [image], endpoints: [{ provider: one, model: d, image: { n_max: 2, aspect_ratios: ["1:1"], references_max: 0 } }] }
  a/hears: { output_modalities: [transcription], endpoints: [{ provider: one, model: h, stt: { formats: [json], max_seconds: 1 } }] }
  a/translates: { output_modalities: [transcription], endpoints: [{ provider: one, model: t, stt: { translates: true } }] }
  a/speaks: { output_modalities: [speech], endpoints: [{ provider: one, model: s, tts: { voices: [alto], default_voice: alto, max_characters: 5 } }] }
  a/films: { output_modalities: [video], endpoints: [{ provider: films, model: grok-imagine-video, video: { durations: [4], resolutions: [720p] } }] }
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

async function send(path: string, body: JsonObject) {
  fake.seen.length = 0;
  const response = await gateway.post(path, body);
  const text = await response.text();
  return { status: response.status, text, body: parseJsonObject(text) ?? {} };
}

const wavOf = (seconds: number): Buffer<ArrayBuffer> => {
  const bytes = seconds * 48_000;
  return Buffer.concat([wavHead({ sampleRate: 24_000 }, bytes), Buffer.alloc(bytes)]);
};
const sound = (seconds: number): JsonObject => ({ data: wavOf(seconds).toString('base64'), format: 'wav' });

describe('what an operator states of an endpoint that makes no text', () => {
  const BEYOND: readonly (readonly [string, JsonObject, string])[] = [
    ['/embeddings', { model: 'a/vectors', input: 'x', dimensions: 3 }, 'dimensions'],
    ['/rerank', { model: 'a/ranks', query: 'q', documents: ['a', 'b', 'c'] }, 'documents'],
    ['/images', { model: 'a/draws', prompt: 'x', n: 3 }, 'n'],
    ['/images', { model: 'a/draws', prompt: 'x', aspect_ratio: '16:9' }, 'aspect_ratio'],
    ['/audio/transcriptions', { model: 'a/hears', input_audio: sound(1), response_format: 'srt' }, 'response_format'],
    ['/audio/speech', { model: 'a/speaks', input: 'abc', voice: 'bass' }, 'voice'],
    ['/audio/speech', { model: 'a/speaks', input: 'abcdef' }, 'input'],
    ['/videos', { model: 'a/films', prompt: 'x', duration: 5 }, 'duration'],
    ['/videos', { model: 'a/films', prompt: 'x', resolution: '1080p' }, 'resolution'],
  ];
  for (const [path, request, param] of BEYOND)
    // @spec catalog-21
    test(`is what the endpoint takes: ${path} refuses ${param}`, async () => {
      fake.answer = (_call, response) => sendJson(response, {});
      const { status, body, text } = await send(path, request);
      assert.equal(status, 400, text);
      const { error } = body;
      assert.ok(isJsonObject(error));
      assert.equal(error['param'], param, text);
      assert.equal(fake.seen.length, 0);
    });

  // @spec stt-11
  test('keeps a sound from an endpoint that it is too long for', async () => {
    const { status, body } = await send('/audio/transcriptions', { model: 'a/hears', input_audio: sound(2) });
    const { error } = body;
    assert.ok(isJsonObject(error));
    assert.deepEqual([status, error['param'], fake.seen.length], [400, 'file', 0]);
    fake.answer = (_call, response) => sendJson(response, { text: 'x' });
    assert.equal((await send('/audio/transcriptions', { model: 'a/hears', input_audio: sound(1) })).status, 200);
  });

  // @spec stt-10
  test('sends a translation to models alone that are known to translate', async () => {
    const translate = async (model: string, more: Readonly<Record<string, string>> = {}): Promise<number> => {
      fake.seen.length = 0;
      const form = new FormData();
      form.append('file', new Blob([wavOf(1)]), 'a.wav');
      for (const [name, value] of Object.entries({ model, ...more })) form.append(name, value);
      const headers = { authorization: `Bearer ${API_KEY}` };
      const response = await fetch(`${gateway.baseUrl}/audio/translations`, { method: 'POST', headers, body: form });
      await response.arrayBuffer();
      return response.status;
    };
    fake.answer = (_call, response) => sendJson(response, { text: 'hello' });
    assert.equal(await translate('a/translates'), 200);
    assert.equal(fake.seen[0]?.path, '/v1/audio/translations');
    assert.equal(await translate('a/hears'), 400);
    assert.equal(await translate('a/translates', { stream: 'true' }), 400);
    assert.equal(fake.seen.length, 0);
  });

  test('is what the endpoint is sent: a list of inputs is split, and a voice is named', async () => {
    fake.answer = (_call, response) => sendJson(response, { data: [{ index: 0, embedding: [1, 2] }] });
    const vectors = await send('/embeddings', { model: 'a/vectors', input: ['x', 'y'] });
    assert.equal(vectors.status, 200, vectors.text);
    assert.equal(fake.seen.length, 2);
    fake.answer = (_call, response) => void response.end(Buffer.alloc(480, 1));
    const spoken = await send('/audio/speech', { model: 'a/speaks', input: 'abc', response_format: 'pcm' });
    assert.equal(spoken.status, 200, spoken.text);
    assert.equal(fake.seen[0]?.body['voice'], 'alto');
  });
});
