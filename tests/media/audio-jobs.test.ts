import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

/** A second of silence. */
const SOUND = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]);

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  gateway = await startGateway({
    yaml: `
providers: { assemblyai: { base_url: "${upstream.url}/v2", api_key: sk } }
models:
  a/universal:
    output_modalities: [transcription]
    endpoints:
      - { provider: assemblyai, model: universal-3-pro, data_policy: { training: false, retention_days: 0 }, price: { prompt: 0, completion: 0, second: 0.0001 } }
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

const WORDS = [
  { text: 'Hello', start: 240, end: 640, confidence: 0.9, speaker: 'A' },
  { text: 'you.', start: 700, end: 1_000, confidence: 0.9, speaker: 'A' },
  { text: 'Hi', start: 1_500, end: 1_800, confidence: 0.9, speaker: 'B' },
];
const MEMBERS: ReadonlySet<string> = new Set(
  'audio_url speech_models language_code language_detection speaker_labels keyterms_prompt prompt temperature punctuate'.split(
    ' ',
  ),
);

interface State {
  looksLeft: number;
  isForgotten: boolean;
}

/** As its documentation shows it: it refuses a key with a prefix, and members that it does not know. */
function serve(end: JsonObject, looksLeft = 1): State {
  const state: State = { looksLeft, isForgotten: false };
  upstream.answer = ({ method, path, headers, body, bytes }, response) => {
    response.setHeader('retry-after', '0');
    if (headers['authorization'] !== 'sk') return sendJson(response, { error: 'Invalid API key' }, 401);
    if (method === 'POST' && path === '/v2/upload') {
      assert.deepEqual(bytes, SOUND);
      assert.equal(headers['content-type'], 'application/octet-stream');
      return sendJson(response, { upload_url: 'https://cdn.assemblyai.com/upload/1' });
    }
    if (method === 'POST' && path === '/v2/transcript') {
      const odd = Object.keys(body).find((member) => !MEMBERS.has(member));
      if (odd !== undefined) return sendJson(response, { error: `Invalid endpoint schema: ${odd}` }, 400);
      return sendJson(response, { id: 't-1', status: 'queued' });
    }
    if (path !== '/v2/transcript/t-1') return sendJson(response, { error: 'Not found' }, 404);
    if (method === 'DELETE') {
      state.isForgotten = true;
      return sendJson(response, { id: 't-1', status: 'completed' });
    }
    return sendJson(response, state.looksLeft-- > 0 ? { id: 't-1', status: 'processing' } : { id: 't-1', ...end });
  };
  return state;
}

const DONE = {
  status: 'completed',
  text: 'Hello you. Hi',
  language_code: 'en_us',
  audio_duration: 4,
  words: WORDS,
  utterances: [
    { speaker: 'A', text: 'Hello you.', start: 240, end: 1_000 },
    { speaker: 'B', text: 'Hi', start: 1_500, end: 1_800 },
  ],
};

async function transcribe(fields: Record<string, string> = {}): Promise<Response> {
  upstream.seen.length = 0;
  const form = new FormData();
  form.append('file', new Blob([SOUND]), 'a.wav');
  for (const [name, value] of Object.entries({ ...fields, model: 'a/universal' })) form.append(name, value);
  const headers = { authorization: `Bearer ${API_KEY}` };
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, { method: 'POST', headers, body: form });
}

async function costOf(response: Response): Promise<unknown> {
  const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  return ((await found.json()) as { data: JsonObject }).data['total_cost'];
}

describe('transcripts of AssemblyAI', () => {
  // @spec stt-14
  test('are uploaded, ordered, waited for, and cost the seconds that were counted', async () => {
    const state = serve(DONE);
    const response = await transcribe({ response_format: 'diarized_json', language: 'en-US', prompt: 'Names: Ann' });
    const body = (await response.json()) as JsonObject;
    assert.equal(response.status, 200, JSON.stringify(body));
    const segments = (body['segments'] as readonly JsonObject[]).map(({ speaker, start, end, text }) => ({
      speaker,
      start,
      end,
      text,
    }));
    assert.deepEqual(segments, [
      { speaker: 'A', start: 0.24, end: 1, text: 'Hello you.' },
      { speaker: 'B', start: 1.5, end: 1.8, text: 'Hi' },
    ]);
    assert.deepEqual(upstream.seen[1]?.body, {
      speech_models: ['universal-3-pro'],
      language_code: 'en_us',
      speaker_labels: true,
      prompt: 'Names: Ann',
      audio_url: 'https://cdn.assemblyai.com/upload/1',
    });
    assert.equal(await costOf(response), 0.0004);
    assert.equal(state.isForgotten, false);
  });

  // @spec stt-14
  test('have sentences of its words where it gives no turns, and subtitles of them', async () => {
    serve({ ...DONE, utterances: null, words: WORDS.map((word) => ({ ...word, speaker: null })) }, 0);
    const response = await transcribe({ response_format: 'srt' });
    assert.equal(
      await response.text(),
      '1\n00:00:00,240 --> 00:00:01,000\nHello you.\n\n2\n00:00:01,500 --> 00:00:01,800\nHi\n',
    );
    assert.equal(upstream.seen[1]?.body['language_detection'], true);
  });

  // @spec stt-14
  test('that fail are 502 and free', async () => {
    serve({ status: 'error', error: 'Transcoding failed. File does not appear to contain audio.' }, 0);
    const response = await transcribe();
    assert.equal(response.status, 502, await response.clone().text());
    assert.equal(await costOf(response), 0);
  });

  // @spec stt-14
  test('are removed at the vendor where nothing is to be kept', async () => {
    const state = serve(DONE, 0);
    const { answer } = upstream;
    const forgotten = new Promise<void>((resolve) => {
      upstream.answer = (call, response, number) => {
        answer(call, response, number);
        if (state.isForgotten) resolve();
      };
    });
    const response = await transcribe({ provider: '{"zdr":true}' });
    assert.equal(response.status, 200, await response.clone().text());
    await forgotten;
  });
});
