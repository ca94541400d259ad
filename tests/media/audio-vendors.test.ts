import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { formOf, RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

/** A second of silence. */
const SOUND = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]);
/** Samples that differ, in a number that no group of base64 ends with. */
const SAMPLES = Buffer.from(Array.from({ length: 10_001 * 2 }, (_none, at) => (at * 13) % 251));

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  const model = (kind: string, provider: string, name: string, price: string): string =>
    `{ output_modalities: [${kind}], endpoints: [{ provider: ${provider}, model: ${name}, price: { ${price} } }] }`;
  gateway = await startGateway({
    yaml: `
providers:
  deepgram: { base_url: "${upstream.url}", api_key: dg }
  elevenlabs: { base_url: "${upstream.url}", api_key: el }
  google: { base_url: "${upstream.url}", api_key: go }
  mistral: { base_url: "${upstream.url}", api_key: mi }
models:
  a/aura: ${model('speech', 'deepgram', 'aura-2', 'prompt: 0, completion: 0, character: 30')}
  a/thalia: ${model('speech', 'deepgram', 'aura-2-thalia-en', 'prompt: 0, completion: 0, character: 30')}
  a/gemini: ${model('speech', 'google', 'gemini-3.8-flash-tts', 'prompt: 1, completion: 10')}
  a/voxtral: ${model('speech', 'mistral', 'voxtral-mini-tts-3-0', 'prompt: 0, completion: 0, character: 16')}
  a/scribe: ${model('transcription', 'elevenlabs', 'scribe_v2', 'prompt: 0, completion: 0, second: 0.0001')}
  a/hears: ${model('transcription', 'google', 'gemini-3-flash', 'prompt: 1, completion: 10')}
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

async function speak(model: string, more: object = {}): Promise<Response> {
  upstream.seen.length = 0;
  return gateway.post('/audio/speech', { model, input: 'héllo', voice: 'one', ...more });
}

function transcribe(model: string, fields: Record<string, string> = {}): Promise<Response> {
  upstream.seen.length = 0;
  const form = new FormData();
  form.append('file', new Blob([SOUND]), 'a.wav');
  for (const [name, value] of Object.entries({ ...fields, model })) form.append(name, value);
  const headers = { authorization: `Bearer ${API_KEY}` };
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, { method: 'POST', headers, body: form });
}

async function recordOf(response: Response): Promise<JsonObject> {
  const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  return ((await found.json()) as { data: JsonObject }).data;
}

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

function geminiSpeech(sound: Buffer, mimeType: string): JsonObject {
  return {
    candidates: [
      { content: { parts: [{ inlineData: { mimeType, data: sound.toString('base64') } }] }, finishReason: 'STOP' },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 25 },
  };
}

describe('speech of Deepgram', () => {
  // @spec tts-12
  test('has its voice in the name of the model, and everything but the text in the query', async () => {
    upstream.answer = (_call, response) => void response.writeHead(200).end(SAMPLES);
    const response = await speak('a/aura', { voice: 'thalia-en', speed: 1.2, instructions: 'slowly' });
    assert.equal(response.status, 200);
    assert.deepEqual(await bytesOf(response), SAMPLES);
    const [call] = upstream.seen;
    assert.match(
      call?.path ?? '',
      /\/speak\?model=aura-2-thalia-en&encoding=linear16&container=none&sample_rate=24000&speed=1\.2$/,
    );
    assert.deepEqual([call?.body, call?.headers['authorization']], [{ text: 'héllo' }, 'Token dg']);
    const { total_cost: cost, warnings } = await recordOf(response);
    assert.equal(cost, 0.00015);
    assert.deepEqual(
      (warnings as { path: string }[]).map(({ path }) => path),
      ['instructions'],
    );
    await speak('a/aura', { voice: 'aura-2-thalia-en' });
    assert.match(upstream.seen[0]?.path ?? '', /model=aura-2-thalia-en&/);
  });

  // @spec tts-12
  test('is 400 where the model is another voice', async () => {
    const response = await speak('a/thalia', { voice: 'zeus-en' });
    assert.equal(response.status, 400, await response.text());
    assert.equal(upstream.seen.length, 0);
  });
});

describe('speech inside of JSON', () => {
  // @spec tts-12
  test('of Gemini is samples with the rate that it names, and its tokens are charged', async () => {
    upstream.answer = (_call, response) => sendJson(response, geminiSpeech(SAMPLES, 'audio/L16;codec=pcm;rate=16000'));
    const response = await speak('a/gemini', { voice: 'Kore', instructions: 'Say it sadly' });
    assert.equal(response.headers.get('content-type'), 'audio/pcm;rate=16000;channels=1');
    assert.deepEqual(await bytesOf(response), SAMPLES);
    assert.match(upstream.seen[0]?.path ?? '', /\/models\/gemini-3\.8-flash-tts:generateContent$/);
    assert.deepEqual(upstream.seen[0]?.body, {
      contents: [{ role: 'user', parts: [{ text: 'Say it sadly: héllo' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    });
    const { total_cost: cost, usage_source: source } = await recordOf(response);
    assert.deepEqual([cost, source], [0.000257, 'upstream']);
    const file = await bytesOf(await speak('a/gemini', { response_format: 'wav' }));
    assert.deepEqual(file, Buffer.concat([wavHead({ sampleRate: 16_000 }), SAMPLES]));
  });

  // @spec tts-12
  test('of Gemini that is a file loses its head where samples are wanted', async () => {
    const file = Buffer.concat([wavHead({ sampleRate: 24_000 }, SAMPLES.length), SAMPLES]);
    upstream.answer = (_call, response) => sendJson(response, geminiSpeech(file, 'audio/wav'));
    assert.deepEqual(await bytesOf(await speak('a/gemini')), SAMPLES);
    assert.deepEqual(await bytesOf(await speak('a/gemini', { response_format: 'wav' })), file);
  });

  // @spec tts-12
  test('that Gemini withholds is 400 and free', async () => {
    for (const body of [
      { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } },
      { candidates: [{ finishReason: 'SAFETY' }], usageMetadata: { promptTokenCount: 3 } },
    ]) {
      upstream.answer = (_call, response) => sendJson(response, body);
      const response = await speak('a/gemini');
      assert.equal(response.status, 400);
      assert.equal(((await response.json()) as { error: JsonObject }).error['type'], 'content_policy_violation');
      assert.equal((await recordOf(response))['total_cost'], 0);
    }
  });

  // @spec tts-12
  test('of Mistral is the bytes of its one member, and samples are taken out of a file', async () => {
    const file = Buffer.concat([wavHead({ sampleRate: 24_000 }, SAMPLES.length), SAMPLES]);
    upstream.answer = (_call, response) => sendJson(response, { audio_data: file.toString('base64') });
    const response = await speak('a/voxtral', { voice: 'gb_jane_neutral' });
    assert.deepEqual(await bytesOf(response), SAMPLES);
    assert.deepEqual(upstream.seen[0]?.body, {
      model: 'voxtral-mini-tts-3-0',
      input: 'héllo',
      voice_id: 'gb_jane_neutral',
      response_format: 'wav',
    });
    assert.equal((await recordOf(response))['total_cost'], 0.00008);
  });

  // @spec tts-12
  test('of a file with samples of another form is 502, not noise', async () => {
    const head = wavHead({ sampleRate: 24_000 }, SAMPLES.length);
    head.writeUInt16LE(3, 20);
    head.writeUInt16LE(32, 34);
    upstream.answer = (_call, response) =>
      sendJson(response, { audio_data: Buffer.concat([head, SAMPLES]).toString('base64') });
    assert.equal((await speak('a/voxtral')).status, 502);
  });
});

describe('transcripts of vendors', () => {
  const word = (text: string, start: number, end: number, speaker: string): JsonObject => ({
    text,
    type: 'word',
    start,
    end,
    speaker_id: speaker,
  });
  const SCRIBED = {
    language_code: 'eng',
    text: 'Hi there. Bye',
    audio_duration_secs: 4,
    words: [
      word('Hi', 0, 0.5, 'speaker_7'),
      { text: ' ', type: 'spacing', start: 0.5, end: 0.6 },
      word('there.', 0.6, 1, 'speaker_7'),
      { text: '(laughs)', type: 'audio_event', start: 1, end: 2 },
      word('Bye', 2, 3.5, 'speaker_2'),
    ],
  };

  // @spec stt-13
  test('come from ElevenLabs by a form, with sentences of its words, and cost its seconds', async () => {
    upstream.answer = (_call, response) => sendJson(response, SCRIBED);
    const response = await transcribe('a/scribe', { response_format: 'srt', language: 'en' });
    assert.equal(
      await response.text(),
      '1\n00:00:00,000 --> 00:00:01,000\nHi there.\n\n2\n00:00:02,000 --> 00:00:03,500\nBye\n',
    );
    const [call] = upstream.seen;
    assert.ok(call !== undefined);
    assert.match(call.path, /\/speech-to-text$/);
    assert.equal(call.headers['xi-api-key'], 'el');
    const form = await formOf(call);
    assert.deepEqual(
      ['model_id', 'language_code', 'diarize', 'tag_audio_events', 'timestamps_granularity'].map((name) =>
        form.get(name),
      ),
      ['scribe_v2', 'en', null, 'false', 'word'],
    );
    assert.equal((await recordOf(response))['total_cost'], 0.0004);
    const diarized = (await (await transcribe('a/scribe', { response_format: 'diarized_json' })).json()) as {
      segments: { speaker: unknown }[];
    };
    assert.deepEqual(
      diarized.segments.map(({ speaker }) => speaker),
      ['A', 'B'],
    );
  });

  // @spec stt-13
  test('come from Gemini by a task, with the very bytes, and cost its tokens', async () => {
    upstream.answer = (_call, response) =>
      sendJson(response, {
        candidates: [
          { content: { parts: [{ text: 'hm', thought: true }, { text: ' Hello you.\n' }] }, finishReason: 'STOP' },
        ],
        usageMetadata: {
          promptTokenCount: 40,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 2,
          promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 32 }],
        },
      });
    const response = await transcribe('a/hears', { response_format: 'text', language: 'en', prompt: 'Names: Ann' });
    assert.equal(await response.text(), 'Hello you.');
    const { contents } = (upstream.seen[0] ?? assert.fail('nothing came')).body as unknown as {
      contents: { parts: { text?: string; inlineData?: { mimeType: string; data: string } }[] }[];
    };
    const [task, sound] = contents[0]?.parts ?? [];
    assert.match(task?.text ?? '', /word for word[^]*language is en[^]*Names: Ann/);
    assert.equal(sound?.inlineData?.mimeType, 'audio/wav');
    assert.deepEqual(Buffer.from(sound?.inlineData?.data ?? '', 'base64'), SOUND);
    assert.equal((await recordOf(response))['total_cost'], 0.00009);
    const verbose = await transcribe('a/hears', { response_format: 'verbose_json' });
    assert.equal(verbose.status, 400, 'it has no times');
  });

  // @spec stt-13
  test('that Gemini has not ended are none', async () => {
    upstream.answer = (_call, response) =>
      sendJson(response, { candidates: [{ content: { parts: [{ text: 'Hel' }] }, finishReason: 'MAX_TOKENS' }] });
    assert.equal((await transcribe('a/hears')).status, 502);
  });
});
