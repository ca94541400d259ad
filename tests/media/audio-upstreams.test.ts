import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

/** A second of silence, and more than the gateway keeps in memory. */
const SOUND = Buffer.concat([wavHead({ sampleRate: 24_000 }, 480_000), Buffer.alloc(480_000)]);
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

/** Answers as the test says, by the first segment of the path: a provider each. */
class Fake {
  readonly seen: Seen[] = [];
  answer: (seen: Seen, response: ServerResponse) => void = () => assert.fail('no answer is set');
  url = '';
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const seen = { path: request.url ?? '', headers: request.headers, bytes: Buffer.concat(chunks) };
    this.seen.push(seen);
    this.answer(seen, response);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const fake = new Fake();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/one, api_key: k1 }
  two: { adapter: openai-compatible, base_url: ${fake.url}/two, api_key: k2 }
  deepgram: { base_url: ${fake.url}/deepgram, api_key: dg }
  elevenlabs: { base_url: ${fake.url}/elevenlabs, api_key: el }
models:
  a/hears:
    output_modalities: [transcription]
    endpoints:
      - { provider: one, model: m, price: { prompt: 0, completion: 0, second: 0.0001 } }
      - { provider: two, model: m, price: { prompt: 0, completion: 0, second: 0.0001 } }
  a/nova:
    output_modalities: [transcription]
    endpoints: [{ provider: deepgram, model: nova-3, price: { prompt: 0, completion: 0, second: 0.0001 } }]
  a/speaks:
    output_modalities: [speech]
    endpoints:
      - { provider: one, model: t, price: { prompt: 0, completion: 0, character: 15 } }
      - { provider: two, model: t, price: { prompt: 0, completion: 0, character: 15 } }
  a/eleven:
    output_modalities: [speech]
    endpoints: [{ provider: elevenlabs, model: eleven_v2, price: { prompt: 0, completion: 0, character: 15 } }]
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

async function transcribe(model: string, fields: Record<string, string> = {}): Promise<Response> {
  fake.seen.length = 0;
  const form = new FormData();
  // The file comes first, the model last.
  form.append('file', new Blob([SOUND]), 'secret-name.mp3');
  for (const [name, value] of Object.entries({ ...fields, model })) form.append(name, value);
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body: form,
  });
}

function speak(model: string, more: object = {}): Promise<Response> {
  fake.seen.length = 0;
  return gateway.post('/audio/speech', { model, input: 'héllo', voice: 'v/1', ...more });
}

async function formOf({ headers, bytes }: Seen): Promise<FormData> {
  return new Response(bytes, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData();
}

async function costOf(response: Response): Promise<unknown> {
  const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  return ((await found.json()) as { data: Record<string, unknown> }).data['total_cost'];
}

const send =
  (status: number, body: string | Buffer, type = 'application/json') =>
  (_: Seen, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': type }).end(body);

describe('transcripts of upstreams', () => {
  // @spec stt-5
  test('come from the next endpoint with the very bytes, whatever the order of the form', async () => {
    fake.answer = (seen, response) =>
      send(
        seen.path.startsWith('/one') ? 500 : 200,
        JSON.stringify({ text: 'hi', usage: { type: 'duration', seconds: 9 } }),
      )(seen, response);
    const response = await transcribe('a/hears', { language: 'de', temperature: '0.5', hotwords: 'abc' });
    assert.equal(response.status, 200);
    assert.equal(fake.seen.length, 2);
    for (const seen of fake.seen) {
      const form = await formOf(seen);
      const file = form.get('file');
      assert.ok(file instanceof File);
      assert.deepEqual(
        [file.name, file.type, digest(Buffer.from(await file.arrayBuffer()))],
        ['audio.wav', 'audio/wav', digest(SOUND)],
      );
      assert.deepEqual(
        ['model', 'language', 'temperature', 'response_format', 'hotwords', 'stream', 'prompt'].map((name) =>
          form.get(name),
        ),
        ['m', 'de', '0.5', 'json', 'abc', null, null],
      );
      assert.equal(seen.headers['content-length'], String(seen.bytes.length));
    }
    const body = (await response.json()) as { text: string; usage: { seconds: number; cost: number }; model: string };
    assert.deepEqual([body.text, body.usage.seconds, body.usage.cost, body.model], ['hi', 9, 0.0009, 'a/hears']);
    assert.equal(await costOf(response), 0.0009);
  });

  // @spec stt-8
  test('are charged as long as the file is where no upstream says it', async () => {
    fake.answer = send(200, '{"text":"hi"}');
    assert.equal(await costOf(await transcribe('a/hears')), 0.001);
  });

  test('are free where no endpoint gives one', async () => {
    fake.answer = send(200, '{"words":[]}');
    const response = await transcribe('a/hears');
    assert.equal(response.status, 502);
    assert.equal(fake.seen.length, 2);
    assert.equal(await costOf(response), 0);
  });

  // @spec stt-6
  test('stream as they come, in the words of other hosts, too', async () => {
    for (const [frames, usage] of [
      [
        [
          { type: 'transcript.text.delta', delta: 'a' },
          { type: 'transcript.text.delta', delta: 'b' },
          {
            type: 'transcript.text.done',
            text: 'ab',
            usage: { type: 'tokens', input_tokens: 5, output_tokens: 2, total_tokens: 7 },
          },
        ],
        { type: 'tokens', input_tokens: 5, output_tokens: 2, total_tokens: 7, cost: 0.001, is_byok: false },
      ],
      [
        [
          { object: 'transcription.chunk', choices: [{ delta: { content: 'a' } }] },
          { object: 'transcription.chunk', choices: [{ delta: { content: 'b' } }] },
        ],
        { type: 'duration', seconds: 10, cost: 0.001, is_byok: false },
      ],
    ] as const) {
      fake.answer = send(
        200,
        `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`,
        'text/event-stream',
      );
      const text = await (await transcribe('a/hears', { stream: 'true' })).text();
      const events = text
        .trim()
        .split('\n\n')
        .map((frame) => JSON.parse(frame.slice(6)) as object);
      assert.deepEqual(events.slice(0, 2), [
        { type: 'transcript.text.delta', delta: 'a' },
        { type: 'transcript.text.delta', delta: 'b' },
      ]);
      assert.deepEqual(events[2], { type: 'transcript.text.done', text: 'ab', usage });
      assert.equal((await formOf(fake.seen[0]!)).get('stream'), 'true');
    }
  });

  const deltas = (...texts: readonly string[]): string =>
    texts.map((delta) => `data: ${JSON.stringify({ type: 'transcript.text.delta', delta })}\n\n`).join('');

  // @spec stt-6
  test('are errors, and free, where a stream ends in good order without its end', async () => {
    fake.answer = send(200, deltas('a', 'b'), 'text/event-stream');
    const late = await transcribe('a/hears', { stream: 'true' });
    const text = await late.text();
    assert.match(text, /"delta":"b"/);
    assert.match(text, /"type":"error","error":\{"code":502/);
    assert.doesNotMatch(text, /transcript\.text\.done/);
    assert.equal(await costOf(late), 0);
    fake.answer = send(200, ': nothing\n\n', 'text/event-stream');
    assert.equal((await transcribe('a/hears', { stream: 'true' })).status, 502);
    assert.equal(fake.seen.length, 2, 'before the first text the next endpoint is called');
  });

  // @spec stt-6
  test('are whole where a host ends without an event of its own, or without a text in it', async () => {
    for (const [frames, pieces] of [
      ['data: {"text":"Hello there."}\n\ndata: {"text":"Bye."}\n\n', ['Hello there.', ' Bye.']],
      [`${deltas('Hello', ' you')}data: {"type":"transcript.text.done","text":""}\n\n`, ['Hello', ' you']],
    ] as const) {
      fake.answer = send(200, frames, 'text/event-stream');
      const text = await (await transcribe('a/hears', { stream: 'true' })).text();
      const events = text
        .trim()
        .split('\n\n')
        .map((frame) => JSON.parse(frame.slice(6)) as { delta?: string; type: string; text?: string });
      assert.deepEqual(
        events.slice(0, -1).map(({ delta }) => delta),
        pieces,
      );
      assert.deepEqual([events.at(-1)?.type, events.at(-1)?.text], ['transcript.text.done', pieces.join('')]);
    }
  });

  test('are streamed as one piece where the upstream takes no notice', async () => {
    fake.answer = send(200, '{"text":"whole"}');
    const text = await (await transcribe('a/hears', { stream: 'true' })).text();
    assert.match(
      text,
      /^data: \{"type":"transcript\.text\.delta","delta":"whole"\}\n\ndata: \{"type":"transcript\.text\.done","text":"whole"/,
    );
  });

  test('end with an error event, and free, where a stream breaks off', async () => {
    fake.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"type":"transcript.text.delta","delta":"a"}\n\n');
      setTimeout(() => response.socket?.destroy(), 20);
    };
    const response = await transcribe('a/hears', { stream: 'true' });
    const text = await response.text();
    assert.match(text, /"type":"error","error":\{"code":502/);
    assert.equal(fake.seen.length, 1, 'what was delivered is not asked for again');
    assert.equal(await costOf(response), 0);
  });

  const DELTA = 'data: {"type":"transcript.text.delta","delta":"a","error":null}\n\n';
  for (const [name, event] of [
    ['in an event of its own', '{"type":"error","error":{"message":"broken","code":"server_error"}}'],
    ['in a bare object', '{"error":{"message":"broken","code":500}}'],
  ] as const)
    test(`are no transcripts, and free, where the provider reports an error ${name}`, async () => {
      fake.answer = send(200, `${DELTA}data: ${event}\n\ndata: [DONE]\n\n`, 'text/event-stream');
      const late = await transcribe('a/hears', { stream: 'true' });
      const text = await late.text();
      assert.match(text, /"delta":"a"/);
      assert.match(text, /"type":"error","error":\{"code":502/);
      assert.doesNotMatch(text, /transcript\.text\.done/);
      assert.equal(await costOf(late), 0);
      fake.answer = send(200, `data: ${event}\n\n`, 'text/event-stream');
      const early = await transcribe('a/hears', { stream: 'true' });
      assert.equal(early.status, 502, await early.text());
    });

  // @spec stt-7
  test('are bytes and a query for Deepgram, and subtitles are made of its utterances', async () => {
    fake.answer = send(
      200,
      JSON.stringify({
        metadata: { duration: 4, request_id: 'r1' },
        results: {
          channels: [
            {
              detected_language: 'en',
              alternatives: [
                { transcript: 'Hi there.', words: [{ word: 'hi', punctuated_word: 'Hi', start: 0, end: 0.5 }] },
              ],
            },
          ],
          utterances: [
            { transcript: ' Hi', start: 0, end: 0.5 },
            { transcript: 'there.\n\n', start: 61.25, end: 3_661.5 },
          ],
        },
      }),
    );
    const response = await transcribe('a/nova', { response_format: 'srt' });
    assert.equal(response.headers.get('content-type'), 'application/x-subrip; charset=utf-8');
    assert.equal(
      await response.text(),
      '1\n00:00:00,000 --> 00:00:00,500\nHi\n\n2\n00:01:01,250 --> 01:01:01,500\nthere.\n',
    );
    const [seen] = fake.seen;
    assert.equal(seen?.headers['authorization'], 'Token dg');
    assert.equal(seen.headers['content-type'], 'audio/wav');
    assert.equal(digest(seen.bytes), digest(SOUND));
    assert.match(
      seen.path,
      /^\/deepgram(?:\/v1)?\/listen\?model=nova-3&smart_format=true&punctuate=true&utterances=true&detect_language=true$/,
    );
    assert.equal(await costOf(response), 0.0004);
    assert.match(
      await (await transcribe('a/nova', { response_format: 'vtt' })).text(),
      /^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.500\nHi\n/,
    );
  });

  test('are no chat: a model that only hears is refused there', async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    for (const model of ['a/nova', 'deepgram/nova-3', 'elevenlabs/x']) {
      const response = await gateway.post('/chat/completions', { model, messages });
      assert.ok(
        response.status >= 400 && response.status < 500,
        `${model}: ${response.status} ${await response.text()}`,
      );
    }
  });
});

/** MPEG frames of silence. */
const FRAME = ((): Buffer => {
  const frame = Buffer.alloc(96);
  frame.writeUInt32BE(0xff_f3_44_c0);
  return frame;
})();

describe('speech of upstreams', () => {
  // @spec tts-5, tts-9
  test('comes from the next endpoint while none has made a sound, and costs its characters', async () => {
    fake.answer = (seen, response) => {
      if (seen.path.startsWith('/one')) send(200, FRAME.subarray(0, 50), 'audio/mpeg')(seen, response);
      else send(200, Buffer.concat([FRAME, FRAME]), 'audio/mpeg')(seen, response);
    };
    const response = await speak('a/speaks', { response_format: 'mp3', speed: 1.5, instructions: 'slowly' });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'audio/mpeg');
    assert.equal((await response.arrayBuffer()).byteLength, 192);
    assert.deepEqual(
      fake.seen.map(({ bytes }) => JSON.parse(bytes.toString()) as object),
      [1, 2].map(() => ({
        model: 't',
        input: 'héllo',
        voice: 'v/1',
        response_format: 'mp3',
        speed: 1.5,
        instructions: 'slowly',
      })),
    );
    assert.equal(await costOf(response), 0.000075);
  });

  // @spec tts-6
  test('is an error, and free, where no endpoint makes a sound', async () => {
    for (const body of ['', 'no sound']) {
      fake.answer = send(200, body, 'audio/mpeg');
      const response = await speak('a/speaks', { response_format: 'mp3' });
      assert.equal(response.status, 502);
      assert.equal(fake.seen.length, 2);
      assert.equal(await costOf(response), 0);
    }
  });

  // @spec tts-7
  test('leaves as it comes, and a break is no clean end but is charged', async () => {
    let upstream: ServerResponse | undefined;
    fake.answer = (_, response) => {
      upstream = response;
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(FRAME);
    };
    const response = await speak('a/speaks', { response_format: 'mp3' });
    const reader = response.body?.getReader();
    assert.equal((await reader?.read())?.value?.length, 96, 'the first frame is here while the upstream goes on');
    upstream?.socket?.destroy();
    await assert.rejects(async () => {
      while ((await reader?.read())?.done !== true);
    });
    assert.equal(await costOf(response), 0.000075);
  });

  // @spec tts-8
  test('gets a head where samples are all that a provider has, with its voice in the path', async () => {
    const samples = Buffer.alloc(1_000, 7);
    fake.answer = send(200, samples, 'audio/pcm;rate=16000');
    const response = await speak('a/eleven', { response_format: 'wav', speed: 1.1 });
    const sound = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(sound.subarray(44), samples);
    assert.deepEqual(
      [sound.toString('latin1', 0, 4), sound.readUInt32LE(24), sound.readUInt32LE(40)],
      ['RIFF', 16_000, 0xffff_ffff],
    );
    const [seen] = fake.seen;
    assert.match(seen?.path ?? '', /^\/elevenlabs(?:\/v1)?\/text-to-speech\/v%2F1\/stream\?output_format=pcm_24000$/);
    assert.equal(seen?.headers['xi-api-key'], 'el');
    assert.deepEqual(JSON.parse(seen.bytes.toString()), {
      text: 'héllo',
      model_id: 'eleven_v2',
      voice_settings: { speed: 1.1 },
    });
    assert.equal(await costOf(response), 0.000075);
  });

  test('refuses a format that no endpoint has, with those that there are', async () => {
    const response = await speak('a/eleven', { response_format: 'aac' });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /response_format: must be one of mp3, pcm, opus/);
  });
});
