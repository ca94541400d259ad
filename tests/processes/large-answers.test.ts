import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { API_KEY } from '../support/gateway.ts';

const MB = 1_048_576;
const LIMIT_MB = 1_024;
const AT_ONCE = 20;
/** Batches of vectors take turns: each may take all memory for answers. */
const BATCHES_AT_ONCE = 3;
const PNG = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []);
/** A picture of 30 MB, whose end is nothing but noise: 40 MB of base64. */
const PICTURE = Buffer.from(Buffer.concat([PNG, Buffer.alloc(30 * MB, 'some noise, and more ')]).toString('base64'));
/** Samples, which any bytes are. */
const SOUND = Buffer.alloc(30 * MB, 'the sound of a voice ');

const INPUTS = 2_048;
const FLOATS = Array.from({ length: 1_024 }, (_, at) => Math.fround((at - 512) / 1_023));
/** A vector of 20 kB, as a vendor writes it. */
const NUMBERS = JSON.stringify(FLOATS);
const PACKED = vectorsOf(JSON.stringify(Buffer.from(Float32Array.from(FLOATS).buffer).toString('base64')));

/** Together 40 MB of numbers, and a quarter of that as base64. */
function vectorsOf(vector: string, count = INPUTS): Buffer {
  const items = Array.from({ length: count }, (_, at) => `{"object":"embedding","index":${at},"embedding":${vector}}`);
  return Buffer.from(`[${items.join(',')}]`);
}

/** A head, most of it, and a tail. */
type Sent = readonly [head: string, bytes: Buffer, tail: string];

/** As many as there are inputs: the gateway cuts a batch. */
function sendVectors({ input }: JsonObject): Sent {
  const vectors = vectorsOf(NUMBERS, Array.isArray(input) ? input.length : 0);
  return ['{"object":"list","data":', vectors, ',"usage":{"prompt_tokens":1,"total_tokens":1}}'];
}

interface Large {
  readonly name: string;
  readonly path: string;
  /** Absent: 20. */
  readonly atOnce?: number;
  readonly body: object;
  /** What the upstream sends. */
  readonly sent: Sent | ((body: JsonObject) => Sent);
  readonly type?: string;
  /** What stands before the bytes that the caller is to get; absent: nothing does. */
  readonly mark?: string;
  /** Absent: those that the upstream sends. */
  readonly received?: Buffer;
}

const EVENTS = 'text/event-stream';
const SPOKEN = { model: 'a/speech', input: 'x', voice: 'v' };
const EMBEDDED = { model: 'a/embeddings', input: Array.from({ length: INPUTS }, () => 'a') };
const ANSWERS: readonly Large[] = [
  {
    name: 'whole pictures',
    path: '/images',
    body: { model: 'a/image', prompt: 'x' },
    sent: ['{"data":[{"b64_json":"', PICTURE, '"}]}'],
    mark: '"b64_json":"',
  },
  {
    name: 'pictures in streams',
    path: '/images',
    body: { model: 'a/image', prompt: 'x', stream: true },
    sent: ['data: {"type":"image_generation.completed","b64_json":"', PICTURE, '"}\n\ndata: [DONE]\n\n'],
    type: EVENTS,
    mark: '"b64_json":"',
  },
  {
    name: 'vectors',
    path: '/embeddings',
    body: EMBEDDED,
    sent: sendVectors,
    atOnce: BATCHES_AT_ONCE,
    mark: '"data":',
    received: vectorsOf(NUMBERS),
  },
  {
    name: 'vectors in another encoding',
    path: '/embeddings',
    body: { ...EMBEDDED, encoding_format: 'base64' },
    sent: sendVectors,
    atOnce: BATCHES_AT_ONCE,
    mark: '"data":',
    received: PACKED,
  },
  { name: 'sounds', path: '/audio/speech', body: SPOKEN, sent: ['', SOUND, ''], type: 'audio/pcm' },
  {
    name: 'sounds inside of JSON',
    path: '/audio/speech',
    body: { ...SPOKEN, model: 'a/inside', response_format: 'mp3' },
    sent: ['{"audio_data":"', mp3Text(), '"}'],
    received: Buffer.from(mp3Text().toString(), 'base64'),
  },
];

/** Frames of silence: 30 MB. */
function mp3Text(): Buffer {
  const frame = Buffer.alloc(417);
  Buffer.from([0xff, 0xfb, 0x90, 0x00]).copy(frame);
  return Buffer.from(Buffer.alloc(417 * 75_000, frame).toString('base64'));
}

async function startUpstream(t: TestContext, { sent, type = 'application/json' }: Large): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () =>
      send(response, typeof sent === 'function' ? sent(parseJsonObject(text) ?? {}) : sent, type),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(response: ServerResponse, [head, bytes, tail]: Sent, type: string): void {
  const length = head.length + bytes.length + tail.length;
  response.writeHead(200, { 'content-type': type, ...(type !== EVENTS && { 'content-length': length }) });
  response.write(head);
  response.write(bytes);
  response.end(tail);
}

/** The bytes of an answer behind the mark, hashed as they come: twenty of them are not to be in the memory of the test. */
async function digestOf(response: Response, mark: string, length: number): Promise<string> {
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  assert.ok(response.body);
  const hash = createHash('sha256');
  let before = '';
  let isInside = mark === '';
  let left = length;
  for await (const chunk of response.body) {
    let bytes = Buffer.from(chunk);
    if (!isInside) {
      before += bytes.toString('latin1');
      const at = before.indexOf(mark);
      if (at < 0) continue;
      isInside = true;
      bytes = Buffer.from(before.slice(at + mark.length), 'latin1');
    }
    const part = bytes.subarray(0, left);
    left -= part.length;
    hash.update(part);
  }
  assert.equal(left, 0);
  return hash.digest('hex');
}

suite('answers of 30 to 40 MB, many at a time', () => {
  for (const large of ANSWERS)
    test(`stay within the memory of the process and reach their callers as they came: ${large.name}`, async (t) => {
      const { path, body, mark = '', sent } = large;
      const upstream = await startUpstream(t, large);
      const config = join(makeFolder(t), 'gateway.yaml');
      const price = '{ prompt: 0, completion: 0 }';
      const modelOf = (kind: string, more = ''): string =>
        `{ output_modalities: [${kind}], endpoints: [{ provider: big, model: b, price: ${price}${more} }] }`;
      writeFileSync(
        config,
        `
server: { memory_limit_mb: ${LIMIT_MB} }
providers:
  big: { adapter: openai-compatible, base_url: "${upstream}/v1", api_key: k }
  mistral: { base_url: "${upstream}/v1", api_key: k }
models:
  a/image: ${modelOf('image')}
  a/embeddings: ${modelOf('embeddings', ', embeddings: { max_inputs: 2048, encodings: [float] }')}
  a/speech: ${modelOf('speech')}
  a/inside: { output_modalities: [speech], endpoints: [{ provider: mistral, model: b, price: ${price} }] }
`,
      );
      const gateway = await startGateway(t, { args: ['--config', config], env: { GATEWAY_API_KEY: API_KEY } });
      const received = large.received ?? (typeof sent === 'function' ? Buffer.alloc(0) : sent[1]);
      const request = async (): Promise<string> => {
        const response = await fetch(`${gateway.url}/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return digestOf(response, mark, received.length);
      };
      const digests = await Promise.all(Array.from({ length: large.atOnce ?? AT_ONCE }, request));
      assert.deepEqual([...new Set(digests)], [createHash('sha256').update(received).digest('hex')]);
      const status = readFileSync(`/proc/${gateway.child.pid ?? ''}/status`, 'utf8');
      const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
      t.diagnostic(`${large.name}: the process took ${Math.round(peakMb)} MB at most`);
      assert.ok(peakMb < LIMIT_MB, `${peakMb} MB`);
    });
});
