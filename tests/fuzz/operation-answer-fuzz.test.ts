import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { isJsonObject, parseJson, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { mutateJson } from '../support/fuzz/mutate-json.ts';
import { createRandom, readSeed, seedOf, type Random } from '../support/random.ts';
import { RawUpstream, type RawCall } from '../support/upstreams/raw-upstream.ts';

const SEED = readSeed();
/** A fifth of what generations get. */
const RUNS = Math.ceil(Number(process.env['FUZZ_ANSWERS'] ?? 1_500) / 5);
/** The run to begin with: to repeat a failing one alone, with FUZZ_ANSWERS=1. */
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
const CHANGES_MAX = 3;
/** What a caller may get for an answer of an upstream: 500 is a bug, and what the caller sends is right. */
const STATUSES: ReadonlySet<number> = new Set([200, 400, 404, 413, 429, 502, 503, 524, 529]);
/** More than any of these requests can cost, in USD: a vendor's huge numbers are not to be believed. */
const COST_MAX = 50;

const PNG = encodePng({ width: 32, height: 16 }, () => [1, 2, 3, 255], []).toString('base64');
const WAV = Buffer.concat([wavHead({ sampleRate: 24_000 }, 4_800), Buffer.alloc(4_800, 1)]).toString('base64');
const FLOATS = Buffer.from(Float32Array.of(0.5, -0.25).buffer).toString('base64');

/** What is sent, and what an upstream answers to each of its paths where nothing is changed. */
interface Case {
  readonly provider: string;
  readonly modality: string;
  readonly path: string;
  readonly body: JsonObject;
  /** A list is a stream of events. */
  readonly answers: Readonly<Record<string, JsonObject | readonly JsonObject[]>>;
}

const SOUND = { input_audio: { data: WAV, format: 'wav' } };
const PICTURES = { prompt: 'a cat' };
const USAGE = { prompt_tokens: 3, total_tokens: 3 };
const WORDS = [
  {
    word: 'hello',
    punctuated_word: 'Hello',
    start: 0,
    end: 0.5,
    speaker: 0,
    type: 'word',
    text: 'Hello',
    speaker_id: 'a',
  },
  { word: 'you', punctuated_word: 'you.', start: 0.5, end: 1, speaker: 1, type: 'word', text: 'you.', speaker_id: 'b' },
];
const SEGMENT = { id: 0, seek: 0, start: 0, end: 1, text: 'Hello you.', tokens: [1], temperature: 0, avg_logprob: -1 };
const VERBOSE = {
  task: 'transcribe',
  language: 'en',
  duration: 1,
  text: 'Hello you.',
  segments: [{ ...SEGMENT, compression_ratio: 1, no_speech_prob: 0 }],
  words: WORDS,
  usage: { type: 'duration', seconds: 1 },
};
const GEMINI_USAGE = {
  promptTokenCount: 3,
  candidatesTokenCount: 5,
  totalTokenCount: 8,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 5 }],
};
const geminiPart = (part: JsonObject): JsonObject => ({
  candidates: [{ content: { parts: [part], role: 'model' }, finishReason: 'STOP', safetyRatings: [] }],
  promptFeedback: { safetyRatings: [] },
  usageMetadata: GEMINI_USAGE,
});

const CASES: readonly Case[] = [
  ...['float', 'base64'].map((encoding) => ({
    provider: 'one',
    modality: 'embeddings',
    path: '/embeddings',
    body: { input: ['a', 'b'], encoding_format: encoding },
    answers: {
      '/embeddings': {
        object: 'list',
        data: [0, 1].map((index) => ({
          object: 'embedding',
          index,
          embedding: encoding === 'float' ? [0.5, -0.25] : FLOATS,
        })),
        model: 'm',
        usage: USAGE,
      },
    },
  })),
  {
    provider: 'google',
    modality: 'embeddings',
    path: '/embeddings',
    body: { input: ['a', 'b'] },
    answers: {
      ':batchEmbedContents': {
        embeddings: [{ values: [0.5, -0.25] }, { values: [0.5, -0.25], statistics: { tokenCount: 2 } }],
        usageMetadata: { promptTokenCount: 3 },
      },
    },
  },
  {
    provider: 'cohere',
    modality: 'embeddings',
    path: '/embeddings',
    body: { input: ['a', 'b'] },
    answers: {
      '/embed': {
        id: 'c',
        embeddings: {
          float: [
            [0.5, 1],
            [0.5, 2],
          ],
        },
        meta: { billed_units: { input_tokens: 3, image_tokens: 0, images: 0 } },
      },
    },
  },
  {
    provider: 'cohere',
    modality: 'rerank',
    path: '/rerank',
    body: { query: 'q', documents: ['a', 'b'] },
    answers: {
      '/rerank': {
        id: 'r',
        results: [
          { index: 1, relevance_score: 0.9, document: { text: 'b' } },
          { index: 0, relevance_score: 0.2 },
        ],
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
        usage: { total_tokens: 3, prompt_tokens: 3 },
      },
    },
  },
  {
    provider: 'voyage',
    modality: 'rerank',
    path: '/rerank',
    body: { query: 'q', documents: ['a', 'b'] },
    answers: {
      '/rerank': {
        object: 'list',
        data: [
          { index: 1, relevance_score: 0.9 },
          { index: 0, relevance_score: 0.2 },
        ],
        usage: { total_tokens: 3 },
      },
    },
  },
  {
    provider: 'deepinfra',
    modality: 'rerank',
    path: '/rerank',
    body: { query: 'q', documents: ['a', 'b'] },
    answers: { '/inference/': { scores: [0.1, 0.2], input_tokens: 3, request_id: 'r', inference_status: { cost: 1 } } },
  },
  {
    provider: 'one',
    modality: 'image',
    path: '/images',
    body: { ...PICTURES, n: 2 },
    answers: {
      '/images/generations': {
        created: 1,
        data: [{ b64_json: PNG, revised_prompt: 'x' }, { b64_json: PNG }],
        output_format: 'png',
        size: '32x16',
        quality: 'low',
        usage: {
          input_tokens: 3,
          input_tokens_details: { text_tokens: 3, image_tokens: 0 },
          output_tokens: 5,
          output_tokens_details: { image_tokens: 5, text_tokens: 0 },
          total_tokens: 8,
        },
      },
    },
  },
  {
    provider: 'google',
    modality: 'image',
    path: '/images',
    body: PICTURES,
    answers: { ':generateContent': geminiPart({ inlineData: { mimeType: 'image/png', data: PNG } }) },
  },
  {
    provider: 'black-forest-labs',
    modality: 'image',
    path: '/images',
    body: PICTURES,
    answers: {
      'POST /': { id: 'abc', polling_url: 'URL/black-forest-labs/get_result?id=abc', cost: 4.5, output_mp: 1 },
      'GET /': { id: 'abc', status: 'Ready', result: { sample: 'URL/sample.png', seed: 7 }, progress: 1 },
    },
  },
  {
    provider: 'fal',
    modality: 'image',
    path: '/images',
    body: PICTURES,
    answers: {
      'POST /': {
        status: 'IN_QUEUE',
        request_id: 'i',
        status_url: 'URL/fal/flux/requests/i/status',
        response_url: 'URL/fal/flux/requests/i',
        cancel_url: 'URL/fal/flux/requests/i/cancel',
      },
      '/status': { status: 'COMPLETED', request_id: 'i', response_url: 'URL/fal/flux/requests/i' },
      'GET /': {
        images: [{ url: 'URL/sample.png', width: 32, height: 16, content_type: 'image/png' }],
        has_nsfw_concepts: [false],
        seed: 7,
      },
    },
  },
  {
    provider: 'replicate',
    modality: 'image',
    path: '/images',
    body: PICTURES,
    answers: {
      'POST /': { id: 'p1', status: 'starting', output: null, urls: { get: 'URL/replicate/predictions/p1' } },
      'GET /': { id: 'p1', status: 'succeeded', output: ['URL/sample.png'], error: null, metrics: { predict_time: 2 } },
    },
  },
  {
    provider: 'stability',
    modality: 'image',
    path: '/images',
    body: PICTURES,
    answers: { 'POST /': { image: PNG, finish_reason: 'SUCCESS', seed: 7 } },
  },
  ...['json', 'verbose_json', 'srt', 'diarized_json'].map((format) => ({
    provider: 'one',
    modality: 'transcription',
    path: '/audio/transcriptions',
    body: { ...SOUND, response_format: format },
    answers: { '/audio/transcriptions': VERBOSE },
  })),
  ...['json', 'vtt', 'verbose_json'].map((format) => ({
    provider: 'deepgram',
    modality: 'transcription',
    path: '/audio/transcriptions',
    body: { ...SOUND, response_format: format },
    answers: {
      'POST /': {
        metadata: { duration: 1, channels: 1, request_id: 'r' },
        results: {
          channels: [{ alternatives: [{ transcript: 'Hello you.', words: WORDS }], detected_language: 'en' }],
          utterances: [{ start: 0, end: 1, transcript: 'Hello you.', speaker: 0, words: WORDS }],
        },
      },
    },
  })),
  {
    provider: 'elevenlabs',
    modality: 'transcription',
    path: '/audio/transcriptions',
    body: { ...SOUND, response_format: 'srt' },
    answers: {
      'POST /': {
        language_code: 'en',
        text: 'Hello you.',
        words: WORDS,
        audio_duration_secs: 1,
        transcription_id: 't',
      },
    },
  },
  {
    provider: 'assemblyai',
    modality: 'transcription',
    path: '/audio/transcriptions',
    body: { ...SOUND, response_format: 'vtt' },
    answers: {
      '/upload': { upload_url: 'https://cdn.assemblyai.com/upload/1' },
      'POST /': { id: 't-1', status: 'queued' },
      'GET /': {
        id: 't-1',
        status: 'completed',
        text: 'Hello you.',
        words: [{ text: 'Hello', start: 240, end: 640, speaker: 'A' }],
        utterances: [{ text: 'Hello', start: 240, end: 640, speaker: 'A', words: [] }],
        language_code: 'en',
        audio_duration: 1,
      },
    },
  },
  {
    provider: 'google',
    modality: 'transcription',
    path: '/audio/transcriptions',
    body: SOUND,
    answers: { ':generateContent': geminiPart({ text: 'Hello you.' }) },
  },
  ...['pcm', 'wav'].map((format) => ({
    provider: 'google',
    modality: 'speech',
    path: '/audio/speech',
    body: { input: 'Hello', voice: 'Kore', response_format: format },
    answers: {
      ':generateContent': geminiPart({ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: WAV } }),
    },
  })),
  ...['pcm', 'wav'].map((format) => ({
    provider: 'mistral',
    modality: 'speech',
    path: '/audio/speech',
    body: { input: 'Hello', voice: 'v', response_format: format },
    answers: { 'POST /': { audio_data: WAV } },
  })),
];

const STREAMED = { ...SOUND, stream: true };
const STREAMS: readonly Case[] = [
  {
    provider: 'one',
    modality: 'image',
    path: '/images',
    body: { ...PICTURES, stream: true },
    answers: {
      '/images/generations': [
        { type: 'image_generation.partial_image', partial_image_index: 0, b64_json: PNG },
        {
          type: 'image_generation.completed',
          b64_json: PNG,
          output_format: 'png',
          size: '32x16',
          usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
        },
      ],
    },
  },
  ...[
    [
      { type: 'transcript.text.delta', delta: 'Hello ', logprobs: [] },
      { type: 'transcript.text.segment', id: 's', start: 0, end: 1, speaker: 'A', text: 'Hello you.' },
      {
        type: 'transcript.text.done',
        text: 'Hello you.',
        usage: { type: 'tokens', input_tokens: 3, output_tokens: 2 },
      },
    ],
    [
      { object: 'transcription.chunk', choices: [{ delta: { content: 'Hello you.' }, finish_reason: null }] },
      { object: 'transcription.chunk', choices: [{ delta: { content: '' }, finish_reason: 'stop' }], usage: USAGE },
    ],
    [
      { type: 'transcription.text.delta', text: 'Hello you.' },
      { type: 'transcription.segment', text: 'Hello you.', start: 0, end: 1, speaker_id: 'a' },
      { type: 'transcription.language', audio_language: 'en' },
      { type: 'transcription.done', text: 'Hello you.', segments: [], usage: { prompt_audio_seconds: 1 } },
    ],
    [VERBOSE, VERBOSE],
  ].map((events) => ({
    provider: 'one',
    modality: 'transcription',
    path: '/audio/transcriptions',
    body: STREAMED,
    answers: { '/audio/transcriptions': events },
  })),
];
const ALL = [...CASES, ...STREAMS];

/** Of names as its provider wants them. */
const UPSTREAM_MODELS: Readonly<Record<string, string>> = {
  'google speech': 'gemini-2.5-flash-preview-tts',
  'google transcription': 'gemini-2.5-flash',
  'google image': 'gemini-2.5-flash-image',
  'black-forest-labs image': 'flux-pro-1.1',
  'fal image': 'fal-ai/flux/dev',
  'replicate image': 'owner/flux',
  'stability image': 'core',
};
const PRICE =
  '{ prompt: 1, completion: 1, second: 0.001, character: 10, search_unit: 0.002, image_output: 30, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }] }';
const modelOf = ({ provider, modality }: Pick<Case, 'provider' | 'modality'>): string => `${provider}-${modality}`;

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  const providers = [...new Set(CASES.map(({ provider }) => provider))];
  const rows = new Map(CASES.map((one) => [modelOf(one), one]));
  gateway = await startGateway({
    yaml: `
providers:
${providers
  .map(
    (id) =>
      `  ${id}: { ${id === 'one' ? 'adapter: openai-compatible, ' : ''}base_url: "${upstream.url}/${id}", api_key: sk }`,
  )
  .join('\n')}
models:
${[...rows]
  .map(
    ([name, { provider, modality }]) => `  a/${name}:
    output_modalities: [${modality}]
    endpoints: [{ provider: ${provider}, model: "${UPSTREAM_MODELS[`${provider} ${modality}`] ?? 'm'}", price: ${PRICE} }]`,
  )
  .join('\n')}
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

/** @param random absent: nothing is changed */
function serve({ answers, provider }: Case, random?: Random) {
  return ({ method, path }: RawCall, response: ServerResponse): void => {
    const key = Object.keys(answers).find((one) => `${method} ${path}`.includes(one.replace(' /', ` /${provider}/`)));
    const answer = key === undefined ? undefined : answers[key];
    response.setHeader('retry-after', '0');
    if (path.startsWith('/sample.png')) {
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PNG, 'base64'));
      return;
    }
    if (Array.isArray(answer)) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of answer) response.write(`data: ${textOf(event, random)}\n\n`);
      response.end(random?.chance(0.9) === false ? '' : 'data: [DONE]\n\n');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(textOf(answer ?? {}, random));
  };
}

function textOf(answer: unknown, random: Random | undefined): string {
  const changes = random === undefined || random.chance(0.2) ? 0 : random.int(1, CHANGES_MAX);
  const text = random === undefined ? JSON.stringify(answer) : mutateJson(answer, random, changes);
  return text.replaceAll('URL/', `${upstream.url}/`);
}

async function faultOf(one: Case, random: Random): Promise<string | undefined> {
  upstream.answer = serve(one, random);
  const response = await gateway.post(one.path, { ...one.body, model: `a/${modelOf(one)}` });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString('latin1');
  if (!STATUSES.has(response.status)) return `status ${response.status}: ${text.slice(0, 300)}`;
  if (response.status >= 400) {
    const error = parseJsonObject(text)?.['error'];
    return isJsonObject(error) && error['code'] === response.status ? undefined : `no error: ${text.slice(0, 300)}`;
  }
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    const fault = streamFault(bytes.toString());
    if (fault !== undefined) return `${fault}: ${text.slice(0, 300)}`;
  }
  const isJson = type.startsWith('application/json');
  if (isJson && !isJsonObject(parseJson(bytes.toString()))) return `no JSON: ${text.slice(0, 300)}`;
  return costFault(response.headers.get('x-generation-id') ?? '');
}

/** A stream of events that end as they should. */
function streamFault(text: string): string | undefined {
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  const last = events.filter((event) => event !== '[DONE]').at(-1);
  if (events.some((event) => event !== '[DONE]' && !isJsonObject(parseJson(event)))) return 'an event is no JSON';
  const end = parseJsonObject(last ?? '')?.['type'];
  return typeof end === 'string' && /(?:done|completed|error)$/.test(end) ? undefined : 'the stream has no end';
}

async function costFault(id: string): Promise<string | undefined> {
  const response = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const text = await response.text();
  if (response.status !== 200) return `no record: ${text}`;
  const data = parseJsonObject(text)?.['data'];
  const cost = isJsonObject(data) ? data['total_cost'] : undefined;
  const isSane = cost === null || (typeof cost === 'number' && cost >= 0 && cost <= COST_MAX);
  return isSane ? undefined : `cost ${JSON.stringify(cost)}`;
}

suite('made-up answers of upstreams that make no generations', () => {
  test('are right ones before they are changed', async () => {
    for (const one of ALL) {
      upstream.answer = serve(one);
      const response = await gateway.post(one.path, { ...one.body, model: `a/${modelOf(one)}` });
      const text = await response.text();
      assert.equal(response.status, 200, `${modelOf(one)}: ${text}`);
    }
  });

  test(`become an answer or an error, at a sane cost: seed ${SEED}`, async () => {
    const faults: string[] = [];
    for (let at = FIRST; at < FIRST + RUNS; at++) {
      const random = createRandom(seedOf(SEED, at));
      const one = random.pick(ALL);
      const fault = await faultOf(one, random);
      if (fault !== undefined)
        faults.push(`run ${at}: ${modelOf(one)} ${JSON.stringify(one.body).slice(0, 80)}: ${fault}`);
    }
    assert.deepEqual(faults, []);
  });
});
