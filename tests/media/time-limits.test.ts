import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { wavHead } from '../../src/lib/audio/wav.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson, type RawCall } from '../support/upstreams/raw-upstream.ts';

const PNG = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []).toString('base64');
/** A tenth of a second, and a whole one. */
const SHORT = Buffer.concat([wavHead({ sampleRate: 24_000 }, 4_800), Buffer.alloc(4_800)]);
const LONG = Buffer.concat([wavHead({ sampleRate: 24_000 }, 48_000), Buffer.alloc(48_000)]);
const FREE = '{ prompt: 0, completion: 0, second: 0, character: 0, search_unit: 0 }';

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  const provider = (name: string, more = ''): string =>
    `  ${name}: { adapter: openai-compatible, base_url: ${fake.url}/${name}/v1, api_key: k${more} }`;
  const models = (['embeddings', 'rerank', 'image', 'transcription', 'speech'] as const).flatMap((modality) =>
    ['slow', 'patient', 'wholly', 'both'].map((who) => {
      const endpoints = (who === 'both' ? ['slow', 'quick'] : [who])
        .map((name) => `{ provider: ${name}, model: ${who}-${modality}, price: ${FREE} }`)
        .join(', ');
      return `  ${who}/${modality}: { output_modalities: [${modality}], endpoints: [${endpoints}] }`;
    }),
  );
  gateway = await startGateway({
    yaml: `
timeouts: { embeddings_ms: 300, rerank_ms: 300, image_ms: 300, transcription_ms: 300, speech_first_byte_ms: 300, speech_idle_ms: 300 }
providers:
${provider('slow')}
${provider('quick')}
${provider('patient', ', timeouts: { embeddings_ms: 5000, rerank_ms: 5000, image_ms: 5000, transcription_ms: 5000, speech_first_byte_ms: 5000, speech_idle_ms: 5000 }')}
${provider('wholly', ', timeouts: { whole_ms: 5000, first_token_ms: 5000, idle_ms: 5000 }')}
models:
${models.join('\n')}
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

/** What an upstream of each kind answers. */
function answerOf({ path }: RawCall): JsonObject {
  if (path.endsWith('/embeddings')) return { data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 1 } };
  if (path.endsWith('/rerank')) return { results: [{ index: 0, relevance_score: 1 }] };
  if (path.endsWith('/images/generations')) return { created: 1, data: [{ b64_json: PNG }] };
  return { text: 'hello' };
}

/** All upstreams but `quick` take so long. */
function takes(ms: number): void {
  fake.seen.length = 0;
  fake.answer = (call, response) => {
    const isSpeech = call.path.endsWith('/audio/speech');
    const answer = (): void => {
      if (!isSpeech) return sendJson(response, answerOf(call));
      response.writeHead(200, { 'content-type': 'audio/pcm' });
      response.end(Buffer.alloc(4_800));
    };
    if (call.path.startsWith('/quick/')) return answer();
    const timer = setTimeout(answer, ms);
    response.on('close', () => clearTimeout(timer));
  };
}

const sound = (bytes: Buffer): JsonObject => ({ data: bytes.toString('base64'), format: 'wav' });
const KINDS: readonly (readonly [string, string, JsonObject])[] = [
  ['embeddings', '/embeddings', { input: 'a' }],
  ['rerank', '/rerank', { query: 'a', documents: ['b'] }],
  ['image', '/images', { prompt: 'a' }],
  ['transcription', '/audio/transcriptions', { input_audio: sound(SHORT) }],
  ['speech', '/audio/speech', { input: 'a', voice: 'v' }],
];

async function post(path: string, body: JsonObject): Promise<{ status: number; body: JsonObject; bytes: number }> {
  const response = await gateway.post(path, body);
  const bytes = Buffer.from(await response.arrayBuffer());
  const parsed = bytes[0] === 0x7b ? parseJsonObject(bytes.toString()) : undefined;
  return { status: response.status, body: parsed ?? {}, bytes: bytes.length };
}

describe('time limits of kinds', () => {
  for (const [modality, path, body] of KINDS) {
    // @spec fallback-32
    test(`ends a call for ${modality} at its limit with 524`, async () => {
      takes(2_000);
      const startedMs = performance.now();
      const { status, body: answer } = await post(path, { model: `slow/${modality}`, ...body });
      assert.equal(status, 524, JSON.stringify(answer));
      const { error } = answer;
      assert.ok(isJsonObject(error));
      assert.match(JSON.stringify(error), /time limit/);
      assert.ok(performance.now() - startedMs < 1_500);
    });

    // @spec fallback-10, fallback-32
    test(`calls the next provider for ${modality} after the limit`, async () => {
      takes(2_000);
      const { status } = await post(path, {
        model: `both/${modality}`,
        provider: { order: ['slow', 'quick'] },
        ...body,
      });
      assert.equal(status, 200);
      assert.deepEqual(
        fake.seen.map(({ path: at }) => at.split('/')[1]),
        ['slow', 'quick'],
      );
    });

    // @spec fallback-32
    test(`gives ${modality} the time that its provider has of its own`, async () => {
      takes(700);
      assert.equal((await post(path, { model: `patient/${modality}`, ...body })).status, 200);
      assert.equal((await post(path, { model: `wholly/${modality}`, ...body })).status, 200);
    });
  }

  // @spec fallback-32
  test('gives a transcript twice the duration of the sound', async () => {
    takes(900);
    const { status } = await post('/audio/transcriptions', { model: 'slow/transcription', input_audio: sound(LONG) });
    assert.equal(status, 200);
  });

  // @spec fallback-32
  test('counts the time until speech can be heard from the start of the call, whatever its head', async () => {
    fake.answer = (_call, response) => {
      const head = setTimeout(() => {
        response.writeHead(200, { 'content-type': 'audio/pcm' });
        response.flushHeaders();
      }, 200);
      const rest = setTimeout(() => response.end(Buffer.alloc(4_800)), 450);
      response.on('close', () => {
        clearTimeout(head);
        clearTimeout(rest);
      });
    };
    const { status } = await post('/audio/speech', { model: 'slow/speech', input: 'a', voice: 'v' });
    assert.equal(status, 524);
  });

  // @spec fallback-32, fallback-11
  test('breaks speech off that falls silent', async () => {
    fake.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/pcm' });
      response.write(Buffer.alloc(4_800));
      const timer = setTimeout(() => response.end(Buffer.alloc(4_800)), 2_000);
      response.on('close', () => clearTimeout(timer));
    };
    const startedMs = performance.now();
    await assert.rejects(post('/audio/speech', { model: 'slow/speech', input: 'a', voice: 'v' }));
    assert.ok(performance.now() - startedMs < 1_500);
  });
});
