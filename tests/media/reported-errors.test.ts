import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

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
  a/hears: { output_modalities: [transcription], endpoints: [{ provider: one, model: h }] }
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

const sound = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]).toString('base64');
const KINDS: readonly (readonly [string, JsonObject])[] = [
  ['/embeddings', { model: 'a/vectors', input: 'x' }],
  ['/rerank', { model: 'a/ranks', query: 'q', documents: ['x'] }],
  ['/audio/transcriptions', { model: 'a/hears', input_audio: { data: sound, format: 'wav' } }],
];

describe('an answer of status 200 that is an error', () => {
  for (const [path, body] of KINDS)
    // @spec error-13
    test(`is that failure: ${path}`, async () => {
      fake.answer = (_call, response) =>
        sendJson(response, { error: { message: 'prompt is too long', code: 'context_length_exceeded' } });
      const long = await gateway.post(path, body);
      assert.equal(long.status, 400, await long.text());
      fake.answer = (_call, response) => sendJson(response, { error: null });
      const none = await gateway.post(path, body);
      assert.equal(none.status, 502, await none.text());
    });
});
