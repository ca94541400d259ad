import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

let gateway: RunningGateway;
before(async () => {
  gateway = await startGateway({ yaml: '{}' });
});
after(() => gateway.close());

const messages = [{ role: 'user', content: 'hi' }];
const sound = { data: Buffer.from('ID3\u0004\0\0\0\0\0\0', 'latin1').toString('base64'), format: 'mp3' };

/** A body that only its model keeps from being served. */
const BODIES: Readonly<Record<string, JsonObject>> = {
  '/chat/completions': { messages },
  '/messages': { messages, max_tokens: 9 },
  '/responses': { input: 'hi' },
  '/embeddings': { input: 'hi' },
  '/rerank': { query: 'a', documents: ['a'] },
  '/images': { prompt: 'a' },
  '/audio/speech': { input: 'hi' },
  '/audio/transcriptions': { input_audio: sound },
  '/videos': { prompt: 'a' },
};

async function refusalOf(
  path: string,
  model: string,
): Promise<{ readonly status: number; readonly error: JsonObject }> {
  const response = await gateway.post(path, { ...BODIES[path], model });
  const body: unknown = await response.json();
  const error = isJsonObject(body) ? body['error'] : undefined;
  return { status: response.status, error: isJsonObject(error) ? error : {} };
}

// @spec media-9
suite('a model of another kind', () => {
  const CASES: readonly (readonly [path: string, model: string, route: string])[] = [
    ['/chat/completions', 'embed', '/embeddings'],
    ['/messages', 'rerank', '/rerank'],
    ['/responses', 'speech', '/audio/speech'],
    ['/chat/completions', 'video', '/videos'],
    ['/embeddings', 'rerank', '/rerank'],
    ['/rerank', 'embed', '/embeddings'],
    ['/images', 'transcribe', '/audio/transcriptions'],
    ['/audio/speech', 'image', '/images'],
    ['/audio/transcriptions', 'echo', '/chat/completions'],
    ['/videos', 'echo', '/chat/completions'],
  ];
  for (const [path, model, route] of CASES)
    test(`is 400 with the route that fits: ${model} at ${path}`, async () => {
      const { status, error } = await refusalOf(path, `sandbox/${model}`);
      assert.equal(status, 400, JSON.stringify(error));
      const text = JSON.stringify(error);
      assert.match(text, new RegExp(`send its requests to ${route}`));
      assert.match(text, /"code":"wrong_endpoint"/);
    });
});

// @spec media-10
suite('a preset in the name of a model', () => {
  const NAMES = { embeddings: 'embed', rerank: 'rerank', images: 'image', 'audio/speech': 'speech', videos: 'video' };
  for (const [path, model] of Object.entries(NAMES))
    for (const name of ['@preset/x', `sandbox/${model}@preset/x`])
      test(`is 400 at the model: ${name} at /${path}`, async () => {
        const { status, error } = await refusalOf(`/${path}`, name);
        assert.equal(status, 400, JSON.stringify(error));
        assert.equal(error['param'], 'model');
      });
});

suite('sandbox/error-STATUS', () => {
  for (const path of Object.keys(BODIES))
    test(`fails at ${path}`, async () => {
      const { status, error } = await refusalOf(path, 'sandbox/error-529');
      assert.equal(status, path === '/audio/transcriptions' ? status : 529, JSON.stringify(error));
      assert.ok(status >= 400);
      assert.doesNotMatch(JSON.stringify(error), /wrong_endpoint/);
    });
});

test('the header that names the provider can be read in a browser', async () => {
  const response = await fetch(`${gateway.baseUrl}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', origin: 'https://a.example' },
    body: JSON.stringify({ model: 'sandbox/embed', input: 'a' }),
  });
  assert.equal(response.headers.get('x-provider'), 'Sandbox');
  assert.match(response.headers.get('access-control-expose-headers') ?? '', /\bX-Provider\b/);
});
