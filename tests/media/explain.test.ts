import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream } from '../support/upstreams/raw-upstream.ts';
import { wavHead } from '../../src/lib/audio/wav.ts';

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
images: { hold_usd: 0.25 }
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/one/v1, api_key: k1 }
  google: { base_url: ${fake.url}/google, api_key: go }
  xai: { base_url: ${fake.url}/xai/v1, api_key: xa }
models:
  a/vectors: { output_modalities: [embeddings], endpoints: [{ provider: one, model: v, price: { prompt: 1, completion: 0 }}] }
  a/ranks: { output_modalities: [rerank], endpoints: [{ provider: one, model: r, price: { prompt: 0, completion: 0, search_unit: 0.002 } }] }
  a/draws: { output_modalities: [image], endpoints: [{ provider: one, model: d, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }] } }, { provider: google, model: gemini-x }] }
  a/hears: { output_modalities: [transcription], endpoints: [{ provider: one, model: h, price: { prompt: 0, completion: 0, second: 0.001 } }] }
  a/speaks: { output_modalities: [speech], endpoints: [{ provider: one, model: s, price: { prompt: 0, completion: 0, character: 15 } }] }
  a/films: { output_modalities: [video], endpoints: [{ provider: xai, model: grok-imagine-video, price: { prompt: 0, completion: 0, video: { "*": 0.1 } } }] }
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

async function explain(body: JsonObject): Promise<JsonObject> {
  const response = await gateway.post('/route/explain', body);
  const text = await response.text();
  const explained = parseJsonObject(text);
  assert.ok(response.status === 200 && explained !== undefined, text);
  return explained;
}

const sound = Buffer.concat([wavHead({ sampleRate: 24_000 }, 96_000), Buffer.alloc(96_000)]).toString('base64');

describe('the explanation of a request that is no generation', () => {
  const KINDS: readonly (readonly [string, JsonObject, string, number])[] = [
    ['embeddings', { model: 'a/vectors', input: 'x'.repeat(400) }, 'embeddings/openai', 0.000_2],
    ['rerank', { model: 'a/ranks', query: 'q', documents: ['a', 'b'] }, 'rerank/cohere', 0.002],
    ['image', { model: 'a/draws', prompt: 'a cat', n: 2 }, 'image/openai', 0.08],
    ['stt', { model: 'a/hears', input_audio: { data: sound, format: 'wav' } }, 'stt/openai', 0.002],
    ['tts', { model: 'a/speaks', input: 'x'.repeat(1_000), voice: 'one' }, 'tts/openai', 0.015],
    ['video', { model: 'a/films', prompt: 'a cat', duration: 8 }, 'video/xai', 0.8],
  ];
  for (const [kind, body, format, most] of KINDS)
    // @spec route-40
    test(`names the candidates, their format and the most that it may cost: ${kind}`, async () => {
      const explained = await explain(body);
      assert.equal(explained['kind'], kind);
      const { candidates } = explained;
      assert.ok(Array.isArray(candidates) && isJsonObject(candidates[0]), JSON.stringify(explained));
      const [{ format: spoken, estimated_cost: cost }] = [candidates[0]];
      assert.equal(spoken, format);
      assert.ok(isJsonObject(cost) && Math.abs(Number(cost['max']) - most) <= most / 2, JSON.stringify(cost));
      assert.equal(fake.seen.length, 0, 'nothing is called');
    });

  test('gives the reason for each endpoint that is left out, and the error where none is left', async () => {
    const some = await explain({ model: 'a/draws', prompt: 'x', n: 2 });
    assert.partialDeepStrictEqual(some['excluded'], [{ reason: 'parameter_value', lacks: 'n' }]);
    const none = await explain({ model: 'a/draws', prompt: 'x', n: 2, provider: { only: ['google'] } });
    assert.deepEqual(none['candidates'], []);
    assert.partialDeepStrictEqual(none['error'], { code: 404 });
  });

  test('is 400 or 404 where the request itself is', async () => {
    const wrong = await gateway.post('/route/explain', { model: 'a/draws', prompt: 'x', n: 99 });
    assert.equal(wrong.status, 400, await wrong.text());
    const unknown = await gateway.post('/route/explain', { model: 'a/none', query: 'q', documents: ['x'] });
    assert.equal(unknown.status, 404, await unknown.text());
    const other = await gateway.post('/route/explain', { model: 'a/draws', query: 'q', documents: ['x'] });
    assert.equal(other.status, 400);
    assert.match(await other.text(), /wrong_endpoint/);
  });
});
