// The upstream of the media suite: answers that are made once, by the path and the model of the request.
import { createServer, type ServerResponse } from 'node:http';

import { listenAndAnnounce } from '../servers/announce.ts';
import { ANSWER_SIZES, SPEECH } from './loads.ts';

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

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { url = '' } = request;
    if (url.endsWith('/audio/speech')) {
      speak(response);
      return;
    }
    const answer = answerOf(url, Buffer.concat(chunks).toString('latin1'));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
listenAndAnnounce(server);
