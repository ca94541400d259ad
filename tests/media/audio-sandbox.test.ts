import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { generateSpeech, transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

let gateway: RunningGateway;
let client: OpenAI;
before(async () => {
  gateway = await startGateway({});
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
});
after(() => gateway.close());

const TEXT = 'Hello there, world';
const MODEL = 'sandbox/transcribe';

async function say(format: 'wav' | 'mp3' | 'pcm'): Promise<Buffer> {
  const spoken = await client.audio.speech.create({
    model: 'sandbox/speech',
    input: TEXT,
    voice: 'one',
    response_format: format,
  });
  return Buffer.from(await spoken.arrayBuffer());
}

describe('speech and transcripts of the sandbox', () => {
  // @spec tts-1, stt-1
  test('give a text back that was spoken, as wav and as mp3', async () => {
    for (const format of ['wav', 'mp3'] as const) {
      const file = await toFile(await say(format), 'any-name.bin');
      const { text } = await client.audio.transcriptions.create({ model: MODEL, file });
      assert.equal(text, TEXT, format);
    }
  });

  // @spec stt-3
  test('answer in each format of the vendor', async () => {
    const file = await toFile(await say('wav'), 'a.wav');
    const verbose = await client.audio.transcriptions.create({
      model: MODEL,
      file,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    assert.equal(verbose.duration, TEXT.length * 0.08);
    assert.deepEqual(
      verbose.words?.map(({ word }) => word),
      ['Hello', 'there,', 'world'],
    );
    assert.equal(verbose.segments?.[0]?.text, TEXT);
    const srt = await client.audio.transcriptions.create({ model: MODEL, file, response_format: 'srt' });
    assert.match(srt, /^1\n00:00:00,000 --> 00:00:01,440\nHello there, world\n/);
    const vtt = await client.audio.transcriptions.create({ model: MODEL, file, response_format: 'vtt' });
    assert.match(vtt, /^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.440\n/);
    assert.equal(await client.audio.transcriptions.create({ model: MODEL, file, response_format: 'text' }), TEXT);
    const translated = await client.audio.translations.create({ model: MODEL, file, response_format: 'verbose_json' });
    assert.ok('language' in translated);
    assert.equal(translated.language, 'english');
  });

  // @spec stt-6
  test('stream a transcript in events', async () => {
    const file = await toFile(await say('wav'), 'a.wav');
    const stream = await client.audio.transcriptions.create({ model: MODEL, file, stream: true });
    let text = '';
    let done: string | undefined;
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.done') done = event.text;
    }
    assert.deepEqual([text, done], [TEXT, TEXT]);
  });

  // @spec stt-2
  test('take a sound in JSON as well as in a form', async () => {
    const data = (await say('wav')).toString('base64');
    const response = await gateway.post('/audio/transcriptions', {
      model: MODEL,
      input_audio: { data, format: 'wav' },
    });
    const body = (await response.json()) as { text: string; usage: object };
    assert.equal(body.text, TEXT);
    assert.deepEqual(body.usage, { type: 'duration', seconds: 1.44, cost: 0, is_byok: false });
    assert.equal(response.headers.get('x-provider'), 'Sandbox');
    const raw = await gateway.post('/audio/transcriptions', {
      model: MODEL,
      input_audio: { data: (await say('pcm')).toString('base64'), format: 'pcm16' },
    });
    assert.match(((await raw.json()) as { text: string }).text, /^Audio of 1\.44 seconds, wav, [0-9a-f]{8}$/);
  });

  // @spec tts-3
  test('speak in events', async () => {
    const response = await client.audio.speech.create({
      model: 'sandbox/speech',
      input: TEXT,
      voice: 'two',
      response_format: 'pcm',
      stream_format: 'sse',
    });
    const frames = (await response.text())
      .trim()
      .split('\n\n')
      .map((frame) => JSON.parse(frame.slice(6)) as { type: string; audio?: string; usage?: { characters: number } });
    const sound = Buffer.concat(
      frames.flatMap(({ audio }) => (audio === undefined ? [] : [Buffer.from(audio, 'base64')])),
    );
    assert.equal(sound.length, TEXT.length * 3_840);
    assert.equal(frames.at(-1)?.usage?.characters, TEXT.length);
  });

  // @spec tts-2
  test('are mp3 for clients that expect that, and samples for others', async () => {
    const spoken = await client.audio.speech.create({ model: 'sandbox/speech', input: 'hi', voice: 'one' });
    assert.equal(spoken.headers.get('content-type'), 'audio/mpeg');
    await spoken.arrayBuffer();
    const plain = await gateway.post('/audio/speech', { model: 'sandbox/speech', input: 'hi' });
    assert.equal(plain.headers.get('content-type'), 'audio/pcm;rate=24000;channels=1');
    assert.equal((await plain.arrayBuffer()).byteLength, 2 * 3_840);
  });

  test('serve the AI SDK', async () => {
    const openai = createOpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY });
    const { audio } = await generateSpeech({
      model: openai.speech('sandbox/speech'),
      text: TEXT,
      voice: 'one',
      outputFormat: 'wav',
    });
    assert.equal(Buffer.from(audio.uint8Array).toString('latin1', 0, 4), 'RIFF');
    const { text, durationInSeconds } = await transcribe({
      model: openai.transcription(MODEL),
      audio: audio.uint8Array,
    });
    assert.equal(text, TEXT);
    assert.equal(durationInSeconds, 1.44);
  });

  // @spec stt-12, tts-11
  test('are recorded by their kinds and units', async () => {
    const spoken = await gateway.post('/audio/speech', {
      model: 'sandbox/speech',
      input: 'hi',
      response_format: 'wav',
    });
    assert.equal(spoken.headers.get('content-type'), 'audio/wav');
    await spoken.arrayBuffer();
    const file = await toFile(await say('wav'), 'a.wav');
    const { response } = await client.audio.transcriptions.create({ model: MODEL, file }).withResponse();
    for (const [headers, type, unit, count] of [
      [spoken.headers, 'tts', 'characters', 2],
      [response.headers, 'stt', 'audio_ms', 1_440],
    ] as const) {
      const found = await fetch(`${gateway.baseUrl}/generation?id=${headers.get('x-generation-id') ?? ''}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      const { data } = (await found.json()) as { data: Record<string, unknown> };
      assert.deepEqual([data['api_type'], data[unit], data['total_cost']], [type, count, 0], JSON.stringify(data));
    }
  });
});

const BAD: readonly (readonly [string, string, unknown, string])[] = [
  ['speech without a text', '/audio/speech', { model: 'sandbox/speech' }, 'input'],
  ['speech of nothing', '/audio/speech', { model: 'sandbox/speech', input: '' }, 'input'],
  ['speech that is too long', '/audio/speech', { model: 'sandbox/speech', input: 'x'.repeat(50_001) }, 'input'],
  [
    'speech longer than the endpoint takes',
    '/audio/speech',
    { model: 'sandbox/speech', input: 'x'.repeat(5_000) },
    'input',
  ],
  ['an unknown voice', '/audio/speech', { model: 'sandbox/speech', input: 'x', voice: 'three' }, 'voice'],
  [
    'a format that the model has not',
    '/audio/speech',
    { model: 'sandbox/speech', input: 'x', response_format: 'flac' },
    'response_format',
  ],
  [
    'a format that none has',
    '/audio/speech',
    { model: 'sandbox/speech', input: 'x', response_format: 'ra' },
    'response_format',
  ],
  ['too fast speech', '/audio/speech', { model: 'sandbox/speech', input: 'x', speed: 9 }, 'speed'],
  ['fallback models', '/audio/speech', { model: 'sandbox/speech', input: 'x', models: ['a/b'] }, 'models'],
  [
    'a voice to copy',
    '/audio/speech',
    { model: 'sandbox/speech', input: 'x', input_references: [] },
    'input_references',
  ],
  ['a model that does not speak', '/audio/speech', { model: 'sandbox/echo', input: 'x' }, 'model'],
  ['a transcript without a sound', '/audio/transcriptions', { model: MODEL }, 'input_audio'],
  [
    'a sound as a data URL',
    '/audio/transcriptions',
    { model: MODEL, input_audio: { data: 'data:audio/wav;base64,AA', format: 'wav' } },
    'input_audio.data',
  ],
  [
    'no base64',
    '/audio/transcriptions',
    { model: MODEL, input_audio: { data: '?', format: 'wav' } },
    'input_audio.data',
  ],
  [
    'an empty sound',
    '/audio/transcriptions',
    { model: MODEL, input_audio: { data: '', format: 'wav' } },
    'input_audio.data',
  ],
  [
    'no sound',
    '/audio/transcriptions',
    { model: MODEL, input_audio: { data: 'AAAA', format: 'wav' } },
    'input_audio.data',
  ],
];

describe('requests that are wrong', () => {
  for (const [name, path, body, at] of BAD)
    // @spec stt-4, tts-4, tts-10
    test(`are 400 at the member: ${name}`, async () => {
      const response = await gateway.post(path, body);
      const { error } = (await response.json()) as { error: { param: string; message: string } };
      assert.deepEqual([response.status, error.param], [400, at], error.message);
    });

  const wav = async (fields: Record<string, string>): Promise<Response> => {
    const form = new FormData();
    form.append('file', new Blob([await say('wav')]), 'a');
    for (const [name, value] of Object.entries({ model: MODEL, ...fields })) form.append(name, value);
    return fetch(`${gateway.baseUrl}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: form,
    });
  };
  const FIELDS: readonly (readonly [Record<string, string>, string])[] = [
    [{ temperature: 'hot' }, 'temperature'],
    [{ temperature: '3' }, 'temperature'],
    [{ language: 'not a language' }, 'language'],
    [{ response_format: 'docx' }, 'response_format'],
    [{ 'timestamp_granularities[]': 'word' }, 'timestamp_granularities'],
    [{ stream: 'maybe' }, 'stream'],
    [{ provider: '{' }, 'provider'],
    [{ tools: '[]' }, 'tools'],
    [{ 'include[]': 'logprobs', response_format: 'text' }, 'include'],
  ];
  for (const [fields, at] of FIELDS)
    // @spec stt-4
    test(`are 400 at the field of a form: ${JSON.stringify(fields)}`, async () => {
      const response = await wav(fields);
      const { error } = (await response.json()) as { error: { param: string; message: string } };
      assert.deepEqual([response.status, error.param], [400, at], error.message);
    });

  test('are 401 and 403 before anything of a form is read', async () => {
    for (const [key, status] of [
      ['sk-wrong', 401],
      [MANAGEMENT_KEY, 403],
    ] as const) {
      const form = new FormData();
      form.append('file', new Blob([Buffer.alloc(10)]), 'a');
      const response = await fetch(`${gateway.baseUrl}/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: form,
      });
      assert.equal(response.status, status);
    }
  });
});
