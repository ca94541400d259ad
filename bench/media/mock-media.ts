// The upstream of the media suite: answers that are made once, by the path and the model of the request.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { listenAndAnnounce } from '../servers/announce.ts';
import { ANSWER_SIZES, CLIP_BYTES, LONG_SPEECH_BYTES, NARROW, SPEECH } from './loads.ts';

const { inputs: INPUTS, dimensions: DIMENSIONS, documents: DOCUMENTS, pictureBytes: PICTURE_BYTES } = ANSWER_SIZES;
const GAP_MS = SPEECH.gapMs;
/** Of a number as text: those of a float of 32 bits. */
const DIGITS = 9;

const vectors = makeVectors();
const NUMBERS = vectors.map(
  (vector) => `[${Array.from(vector, (number) => String(Number(number.toPrecision(DIGITS)))).join(',')}]`,
);
const BASE64 = vectors.map((vector) => JSON.stringify(Buffer.from(vector.buffer).toString('base64')));
/** By encoding and number of inputs: the gateway cuts a batch. */
const made = new Map<string, Buffer>();
const ranked = Buffer.from(
  JSON.stringify({
    id: 'r',
    results: Array.from({ length: DOCUMENTS }, (_none, index) => ({ index, relevance_score: 1 - index / DOCUMENTS })),
    meta: { billed_units: { search_units: 10 } },
  }),
);
const picture = Buffer.from(
  JSON.stringify({
    created: 1,
    data: [{ b64_json: makePicture().toString('base64') }],
    usage: { input_tokens: 5, output_tokens: 9 },
  }),
);

function makeVectors(): readonly Float32Array[] {
  let seed = 7;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
  return Array.from({ length: INPUTS }, () => Float32Array.from({ length: DIMENSIONS }, next));
}

function embeddings(texts: readonly string[]): Buffer {
  const data = texts.map((text, index) => `{"object":"embedding","index":${index},"embedding":${text}}`).join(',');
  return Buffer.from(`{"object":"list","data":[${data}],"model":"m","usage":{"prompt_tokens":9,"total_tokens":9}}`);
}

/** The head of a PNG of 1,024 pixels a side, and bytes that nothing reads. */
function makePicture(): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452000004000000040008020000', 'hex');
  return Buffer.concat([head, Buffer.alloc(PICTURE_BYTES - head.length, 0x5a)]);
}

function answerOf(path: string, body: string): Buffer {
  if (path.endsWith('/rerank')) return ranked;
  if (path.endsWith('/images/generations')) return picture;
  const { input, encoding_format: encoding, model } = JSON.parse(body) as Record<string, unknown>;
  const count = Array.isArray(input) ? input.length : 1;
  const isBase64 = encoding === 'base64' && model !== 'float-only';
  // Of the wait for a part, and not of its bytes.
  if (model === NARROW.model) return embeddings(Array.from({ length: count }, () => '[0.5,0.25]'));
  const name = `${isBase64} ${count}`;
  const known = made.get(name) ?? embeddings((isBase64 ? BASE64 : NUMBERS).slice(0, count));
  made.set(name, known);
  return known;
}

/** Samples at a pace. */
function speak(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'audio/pcm' });
  let left = SPEECH.chunks;
  const send = (): void => {
    response.write(Buffer.alloc(SPEECH.chunkBytes, left));
    if (--left > 0) setTimeout(send, GAP_MS);
    else response.end();
  };
  send();
}

/** As fast as its reader takes it. */
function speakLong(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'audio/pcm' });
  const chunk = Buffer.alloc(65_536, 1);
  let left = LONG_SPEECH_BYTES;
  const send = (): void => {
    while (left > 0) {
      left -= chunk.length;
      if (!response.write(chunk)) return;
    }
    response.end();
  };
  response.on('drain', send);
  send();
}

const clip = Buffer.concat([Buffer.from('00000010667479706d70343200000000', 'hex'), Buffer.alloc(CLIP_BYTES - 16, 1)]);

function sendClip(range: string | undefined, response: ServerResponse): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const part = from === undefined ? clip : clip.subarray(Number(from), Number(to) + 1);
  response.writeHead(from === undefined ? 200 : 206, {
    'content-type': 'video/mp4',
    'content-length': part.length,
    'accept-ranges': 'bytes',
    ...(from !== undefined && { 'content-range': `bytes ${from}-${to}/${clip.length}` }),
  });
  response.end(part);
}

/** Looks at jobs that never end: the gateway waits 5 s before the first, and each time 1.3 times as long, at most 30 s. */
const looks = new Map<string, { count: number; atMs: number }>();
let lateMs = 0;
const LATE = { firstMs: 5_000, factor: 1.3, mostMs: 30_000, jitter: 1.1 } as const;
const ANSWER_MS = 5;

function look(id: string): void {
  const seen = looks.get(id);
  const nowMs = performance.now();
  if (seen !== undefined) {
    const waitMs = Math.min(LATE.mostMs, LATE.firstMs * LATE.factor ** seen.count) * LATE.jitter;
    lateMs = Math.max(lateMs, nowMs - seen.atMs - waitMs);
  }
  looks.set(id, { count: (seen?.count ?? -1) + 1, atMs: nowMs });
}

function answerVideo(method: string, url: string, body: string, response: ServerResponse): void {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (method === 'POST') {
    const isOpen = (JSON.parse(body) as { model: string }).model.endsWith('-open');
    const id = `${isOpen ? 'open' : 'made'}-${looks.size}-${Math.random().toString(36).slice(2)}`;
    if (isOpen) look(id);
    sendJson(response, { request_id: id });
    return;
  }
  const id = url.split('/').at(-1) ?? '';
  if (!id.startsWith('open')) {
    sendJson(response, { status: 'done', video: { url: `${origin}/clip`, duration: 1 } });
    return;
  }
  look(id);
  setTimeout(() => sendJson(response, { status: 'pending' }), ANSWER_MS);
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer((request, response) => {
  const [path, query] = (request.url ?? '').split('?');
  if (path === '/clip') {
    sendClip(query ?? request.headers.range, response);
    return;
  }
  if (request.url === '/looks') {
    sendJson(response, { lateMs });
    return;
  }
  if (request.url?.endsWith('/audio/transcriptions') === true) {
    request.resume().on('end', () => sendJson(response, { text: 'hello' }));
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { url = '' } = request;
    if (url.endsWith('/audio/speech')) {
      if (Buffer.concat(chunks).includes('long"')) speakLong(response);
      else speak(response);
      return;
    }
    const body = Buffer.concat(chunks).toString('latin1');
    if (url.includes('/videos/')) {
      answerVideo(request.method ?? '', url, body, response);
      return;
    }
    const answer = answerOf(url, body);
    const send = (): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
      response.end(answer);
    };
    if (body.includes(`${NARROW.model}"`)) setTimeout(send, NARROW.delayMs);
    else send();
  });
});
listenAndAnnounce(server);
