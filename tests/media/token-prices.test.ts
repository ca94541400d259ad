import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

/** Ten seconds. */
const SOUND = Buffer.concat([wavHead({ sampleRate: 24_000 }, 480_000), Buffer.alloc(480_000)]);
const WAV = Buffer.concat([wavHead({ sampleRate: 24_000 }, 4_800), Buffer.alloc(4_800)]);

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: "${upstream.url}/v1", api_key: k1 }
models:
  a/hears:
    output_modalities: [transcription]
    endpoints: [{ provider: one, model: m, context_length: 16000, price: { prompt: 2, completion: 10, audio: 6 } }]
  a/speaks:
    output_modalities: [speech]
    endpoints: [{ provider: one, model: m, price: { prompt: 0, completion: 0, audio_output: 12 }, tts: { formats: [wav] } }]
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

async function recordOf(response: Response): Promise<JsonObject> {
  await response.arrayBuffer();
  const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  return ((await found.json()) as { data: JsonObject }).data;
}

function transcribe(fields: Readonly<Record<string, string>>): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([SOUND]), 'a.wav');
  for (const [name, value] of Object.entries({ model: 'a/hears', ...fields })) form.append(name, value);
  const headers = { authorization: `Bearer ${API_KEY}` };
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, { method: 'POST', headers, body: form });
}

suite('sounds that are paid by tokens', () => {
  // @spec stt-8
  test('cost the estimated tokens where the provider counts none', async () => {
    upstream.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end('twelve characters and some more');
    };
    // Ten tokens of sound a second at 6 USD a million, and eight of text at 10.
    const whole = await recordOf(await transcribe({ response_format: 'text' }));
    assert.equal(whole['total_cost'], 0.00068);
    upstream.answer = (_call, response) => sendJson(response, { text: 'hello' });
    assert.equal((await recordOf(await transcribe({})))['total_cost'], 0.00062);
    upstream.answer = (_call, response) =>
      sendJson(response, {
        text: 'hello',
        usage: {
          type: 'tokens',
          input_tokens: 20,
          output_tokens: 3,
          total_tokens: 23,
          input_token_details: { audio_tokens: 20 },
        },
      });
    assert.equal((await recordOf(await transcribe({})))['total_cost'], 0.00015);
  });

  // @spec stt-8
  test('cost no more than can be believed, whatever the provider reports', async () => {
    for (const usage of [
      { type: 'duration', seconds: 1e300 },
      { type: 'duration', seconds: 90_000 },
      { type: 'tokens', input_tokens: 50_000_000, output_tokens: 50_000_000 },
    ]) {
      upstream.answer = (_call, response) => sendJson(response, { text: 'hello', duration: 1e300, usage });
      const response = await transcribe({});
      assert.equal(response.status, 200);
      assert.equal((await recordOf(response))['total_cost'], 0.00062, JSON.stringify(usage));
    }
  });

  // @spec tts-9
  test('cost their tokens where those of the sound alone have a price', async () => {
    upstream.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' });
      response.end(WAV);
    };
    const body = { model: 'a/speaks', input: 'x'.repeat(100), voice: 'v', response_format: 'wav' };
    const record = await recordOf(await gateway.post('/audio/speech', body));
    // 1.3 tokens a character.
    assert.equal(record['total_cost'], 0.00156);
  });
});
