import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { isJsonObject, parseJson } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { mutateJson } from '../support/fuzz/mutate-json.ts';
import { createRandom, readSeed, seedOf, type Random } from '../support/random.ts';

const SEED = readSeed();
/** A tenth of what generations get. */
const REQUESTS = Math.ceil(Number(process.env['FUZZ_REQUESTS'] ?? 2_500) / 10);
const AT_ONCE = 8;
const CHANGES_MAX = 4;
/** Statuses that a caller may get. A 500 is always a bug. */
const STATUSES: ReadonlySet<number> = new Set([200, 202, 400, 402, 403, 404, 408, 413, 422, 429, 502, 503, 524, 529]);

const PNG = encodePng({ width: 16, height: 16 }, () => [1, 2, 3, 128], []);
const PICTURE = `data:image/png;base64,${PNG.toString('base64')}`;
const SOUND = Buffer.concat([wavHead({ sampleRate: 8_000 }, 1_600), Buffer.alloc(1_600)]);

const BODIES: readonly (readonly [path: string, body: object])[] = [
  ['/embeddings', { model: 'sandbox/embed', input: ['a', 'b c'], dimensions: 16, encoding_format: 'base64' }],
  ['/rerank', { model: 'sandbox/rerank', query: 'q', documents: ['a', { text: 'b', id: 1 }], top_n: 1 }],
  [
    '/v2/embed',
    {
      model: 'sandbox/embed',
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 8,
    },
  ],
  ['/v2/rerank', { model: 'sandbox/rerank', query: 'q', texts: ['a'], top_k: 2, return_documents: false }],
  [
    '/audio/speech',
    { model: 'sandbox/speech', input: 'hi', voice: 'one', response_format: 'wav', stream_format: 'sse' },
  ],
  [
    '/audio/transcriptions',
    {
      model: 'sandbox/transcribe',
      input_audio: { data: SOUND.toString('base64'), format: 'wav' },
      response_format: 'verbose_json',
    },
  ],
  [
    '/images',
    {
      model: 'sandbox/image',
      prompt: 'x',
      n: 2,
      size: '32x32',
      quality: 'low',
      seed: 1,
      stream: true,
      partial_images: 2,
    },
  ],
  [
    '/images',
    {
      model: 'sandbox/image',
      prompt: 'x',
      size: '16x16',
      input_references: [{ type: 'image_url', image_url: { url: PICTURE } }],
      provider: { options: { sandbox: { seed: 3 } } },
    },
  ],
  [
    '/images/generations',
    { model: 'sandbox/image', prompt: 'x', size: '16x16', output_format: 'svg', response_format: 'url' },
  ],
  [
    '/images/edits',
    { model: 'sandbox/image', prompt: 'x', size: '16x16', images: [{ image_url: PICTURE }], mask: PICTURE },
  ],
  [
    '/videos',
    {
      model: 'sandbox/video-fail',
      prompt: 'x',
      duration: 2,
      frame_images: [{ type: 'image_url', frame_type: 'first_frame', image_url: { url: PICTURE } }],
    },
  ],
];

/** Parts of forms, right and wrong ones. */
const FIELDS = 'model prompt n size stream seed image image[] mask file response_format provider language x'.split(' ');
const TEXTS = [
  'sandbox/image',
  'sandbox/transcribe',
  'x',
  '1',
  '-1',
  '32x32',
  'true',
  'perhaps',
  '',
  '{}',
  '[1',
  '\0',
  'json',
];
const FILES = [
  PNG,
  SOUND,
  Buffer.alloc(0),
  Buffer.from('<svg>'),
  PNG.subarray(0, 40),
  Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'),
];

let gateway: RunningGateway;
before(async () => {
  gateway = await startGateway({});
});
after(() => gateway.close());

interface Made {
  readonly path: string;
  readonly body: string | FormData;
}

function makeRequest(random: Random): Made {
  if (random.chance(0.25)) return makeForm(random);
  const [path, body] = random.pick(BODIES);
  return { path, body: mutateJson(body, random, random.int(0, CHANGES_MAX)) };
}

function makeForm(random: Random): Made {
  const path = random.pick(['/images/edits', '/audio/transcriptions', '/audio/translations', '/videos', '/images']);
  const body = new FormData();
  if (random.chance(0.7)) body.append('model', path.startsWith('/images') ? 'sandbox/image' : 'sandbox/transcribe');
  if (random.chance(0.7)) body.append('prompt', 'x');
  for (let part = random.int(0, 6); part > 0; part--) {
    const name = random.pick(FIELDS);
    if (random.chance(0.5)) body.append(name, random.pick(TEXTS));
    else body.append(name, new Blob([Uint8Array.from(random.pick(FILES))]), 'a.png');
  }
  return { path, body };
}

async function faultOf({ path, body }: Made): Promise<string | undefined> {
  const response = await fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
  });
  const text = await response.text();
  if (!STATUSES.has(response.status)) return `status ${response.status}: ${text.slice(0, 300)}`;
  if (response.status < 400) return undefined;
  const answer = parseJson(text);
  const error = isJsonObject(answer) ? answer['error'] : undefined;
  const isError = isJsonObject(error) && error['code'] === response.status && typeof error['message'] === 'string';
  return isError ? undefined : `no error: ${text.slice(0, 300)}`;
}

suite('made-up requests for what is no generation', () => {
  test(`get an answer, or an error that says what is wrong: seed ${SEED}`, async () => {
    const faults: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < REQUESTS; at = next++) {
        const made = makeRequest(createRandom(seedOf(SEED, at)));
        const fault = await faultOf(made);
        const sent = typeof made.body === 'string' ? made.body.slice(0, 500) : JSON.stringify([...made.body.keys()]);
        if (fault !== undefined) faults.push(`request ${at}: POST ${made.path} ${sent}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    assert.deepEqual(faults, []);
  });
});
