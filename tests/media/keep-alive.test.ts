import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream } from '../support/upstreams/raw-upstream.ts';

/** After the first keep-alive, before the second. @spec stream-4 */
const LATE_MS = 11_500;
const COMMENT = ': keep-alive\n\n';
const B64 = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []).toString('base64');
const TONE = Buffer.alloc(4_800, 1);

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/v1, api_key: k1 }
models:
  a/draws: { output_modalities: [image], endpoints: [{ provider: one, model: d }] }
  a/hears: { output_modalities: [transcription], endpoints: [{ provider: one, model: h }] }
  a/speaks: { output_modalities: [speech], endpoints: [{ provider: one, model: s }] }
`,
  });
  fake.answer = ({ path, bytes }, response) => {
    const isSilentFirst = bytes.includes('silent');
    const [first, last] = PARTS[path.slice('/v1'.length)] ?? [];
    const send = (frames: string | Buffer | undefined): void => void response.write(frames);
    begin(path, response);
    if (isSilentFirst) response.flushHeaders();
    else send(first);
    setTimeout(() => {
      if (isSilentFirst) send(first);
      response.end(last);
    }, LATE_MS);
  };
});
after(async () => {
  await gateway.close();
  fake.close();
});

function begin(path: string, response: ServerResponse): void {
  const type = path.endsWith('/speech') ? 'audio/pcm' : 'text/event-stream';
  response.writeHead(200, { 'content-type': type });
}

const frame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const PARTS: Readonly<Record<string, readonly [string | Buffer, string | Buffer]>> = {
  '/images/generations': [
    frame({ type: 'image_generation.partial_image', partial_image_index: 0, b64_json: B64 }),
    frame({ type: 'image_generation.completed', b64_json: B64 }),
  ],
  '/audio/transcriptions': [
    frame({ type: 'transcript.text.delta', delta: 'a' }),
    frame({ type: 'transcript.text.done', text: 'ab' }),
  ],
  '/audio/speech': [TONE, TONE],
};

function transcribe(prompt: string): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]), 'a.wav');
  form.append('model', 'a/hears');
  form.append('stream', 'true');
  form.append('prompt', prompt);
  return fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body: form,
  });
}

const KINDS: readonly (readonly [string, (words: string) => Promise<Response>, string, string])[] = [
  [
    'pictures',
    (prompt) => gateway.post('/images', { model: 'a/draws', prompt, stream: true }),
    'partial_image',
    'completed',
  ],
  ['a transcript', transcribe, 'text.delta', 'text.done'],
  [
    'speech',
    (input) =>
      gateway.post('/audio/speech', {
        model: 'a/speaks',
        input,
        voice: 'one',
        response_format: 'pcm',
        stream_format: 'sse',
      }),
    'audio.delta',
    'audio.done',
  ],
];

// All of them wait, so they wait together.
suite('a stream of events in which nothing comes', { concurrency: true }, () => {
  for (const [name, send, first, last] of KINDS) {
    // @spec image-14
    test(`begins with a keep-alive after ten seconds: ${name}`, async () => {
      const response = await send('silent');
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.ok(text.startsWith(COMMENT), text.slice(0, 200));
      assert.equal(text.split(COMMENT).length, 2);
      assert.ok(text.includes(last), text.slice(-300));
    });

    // @spec image-14
    test(`has a keep-alive after its first event, too: ${name}`, async () => {
      const text = await (await send('talks')).text();
      const [begun = '', ended = '', ...more] = text.split(COMMENT);
      assert.ok(begun.includes(first) && begun.endsWith('\n\n'), text.slice(0, 300));
      assert.ok(ended.includes(last));
      assert.deepEqual(more, []);
    });
  }
});
