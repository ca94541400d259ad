import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { formOf, RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/v1, api_key: k1 }
models:
  a/vectors: { output_modalities: [embeddings], endpoints: [{ provider: one, model: v }] }
  a/ranks: { output_modalities: [rerank], endpoints: [{ provider: one, model: r }] }
  a/speaks: { output_modalities: [speech], endpoints: [{ provider: one, model: s }] }
  a/hears: { output_modalities: [transcription], endpoints: [{ provider: one, model: h }] }
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

const MINE = { one: { special: true, level: 3 }, two: { special: false } };

describe('provider.options', () => {
  const KINDS: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['/embeddings', { model: 'a/vectors', input: 'x' }, { data: [{ index: 0, embedding: [1] }] }],
    ['/rerank', { model: 'a/ranks', query: 'q', documents: ['x'] }, { results: [{ index: 0, relevance_score: 1 }] }],
    ['/audio/speech', { model: 'a/speaks', input: 'x', voice: 'one', response_format: 'pcm' }, {}],
  ];
  for (const [path, request, answer] of KINDS) {
    // @spec request-36
    test(`adds members to the body of ${path} for the provider that serves, and refuses those that are the gateway's`, async () => {
      fake.seen.length = 0;
      fake.answer = (_call, response) =>
        path === '/audio/speech' ? void response.end(Buffer.alloc(480)) : sendJson(response, answer);
      const served = await gateway.post(path, { ...request, provider: { options: MINE } });
      assert.equal(served.status, 200, await served.text());
      assert.partialDeepStrictEqual(fake.seen[0]?.body, { special: true, level: 3 });
      assert.equal(fake.seen[0]?.body['provider'], undefined);
      const refused = await gateway.post(path, { ...request, provider: { options: { one: { model: 'other' } } } });
      const { error } = parseJsonObject(await refused.text()) ?? {};
      assert.equal(refused.status, 400);
      assert.ok(isJsonObject(error));
      assert.equal(error['param'], 'provider.options.one.model');
      const wrong = await gateway.post(path, { ...request, provider: { options: { one: 'x' } } });
      assert.equal(wrong.status, 400);
    });
  }

  test('adds fields to the form of a transcription', async () => {
    fake.seen.length = 0;
    fake.answer = (_call, response) => sendJson(response, { text: 'hello' });
    const transcribe = async (options: JsonObject): Promise<Response> => {
      const form = new FormData();
      form.append('file', new Blob([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]), 'a.wav');
      form.append('model', 'a/hears');
      form.append('temperature', '0.5');
      form.append('provider', JSON.stringify({ options: { one: options } }));
      return fetch(`${gateway.baseUrl}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}` },
        body: form,
      });
    };
    const written = await transcribe({ temperature: 0 });
    assert.equal(written.status, 400);
    assert.match(await written.text(), /provider\.options\.one\.temperature/);
    assert.equal(fake.seen.length, 0);
    const response = await transcribe({ vad_filter: true });
    assert.equal(response.status, 200, await response.text());
    const [seen] = fake.seen;
    assert.ok(seen);
    const sent = await formOf(seen);
    assert.equal(sent.get('vad_filter'), 'true');
    assert.deepEqual(sent.getAll('temperature'), ['0.5']);
  });
});
