import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';

const sound = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]).toString('base64');
const KINDS: readonly (readonly [string, JsonObject])[] = [
  ['/embeddings', { input: 'x' }],
  ['/rerank', { query: 'q', documents: ['x'] }],
  ['/v2/rerank', { query: 'q', documents: ['x'] }],
  ['/audio/transcriptions', { input_audio: { data: sound, format: 'wav' } }],
  ['/audio/speech', { input: 'x', voice: 'one', response_format: 'pcm' }],
];

describe('a request that names no model', () => {
  // @spec request-37
  test('is served by the default model of its kind', async (t) => {
    const gateway = await startGateway({
      yaml: `defaults:
  embeddings_model: sandbox/embed
  rerank_model: sandbox/rerank
  transcription_model: sandbox/transcribe
  speech_model: sandbox/speech
`,
    });
    t.after(() => gateway.close());
    for (const [path, body] of KINDS) {
      const response = await gateway.post(path, body);
      const text = await response.text();
      assert.equal(response.status, 200, `${path}: ${text}`);
    }
  });

  // @spec request-37
  test('is 400 where there is none', async (t) => {
    const gateway = await startGateway({});
    t.after(() => gateway.close());
    for (const [path, body] of KINDS) {
      const response = await gateway.post(path, { ...body, model: null });
      const text = await response.text();
      assert.equal(response.status, 400, text);
      assert.match(text, /"param":"model"/);
    }
  });
});
