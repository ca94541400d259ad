import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import {
  BFL,
  FAL,
  FIREWORKS_KONTEXT,
  PICTURE,
  REPLICATE,
  serveVendor,
  type PictureVendor,
} from '../support/upstreams/picture-vendors.ts';
import { formOf, RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const BASE64 = PICTURE.toString('base64');
const DATA_URL = `data:image/png;base64,${BASE64}`;

const upstream = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await upstream.start();
  const price = '{ prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }] }';
  const endpoint = (provider: string, model: string): string =>
    `{ provider: ${provider}, model: ${model}, price: ${price} }`;
  const model = (...endpoints: string[]): string =>
    `{ output_modalities: [image], endpoints: [${endpoints.join(', ')}] }`;
  gateway = await startGateway({
    yaml: `
providers:
  black-forest-labs: { base_url: "${upstream.url}/v1", api_key: sk }
  fal: { base_url: "${upstream.url}", api_key: sk }
  replicate: { base_url: "${upstream.url}/v1", api_key: sk }
  fireworks: { base_url: "${upstream.url}/v1", api_key: sk }
  deepinfra: { base_url: "${upstream.url}/v1/openai", api_key: sk }
models:
  a/flux-2: ${model(endpoint('black-forest-labs', 'flux-2-pro'))}
  a/kontext: ${model(endpoint('black-forest-labs', 'flux-kontext-pro'))}
  a/flux-dev: ${model(endpoint('fal', 'fal-ai/flux/dev'))}
  a/flux-pro: ${model(endpoint('replicate', 'black-forest-labs/flux-1.1-pro'))}
  a/version: ${model(endpoint('replicate', `acme/draws:${'0a'.repeat(32)}`))}
  a/fireworks-kontext: ${model(endpoint('fireworks', 'accounts/fireworks/models/flux-kontext-pro'))}
  a/schnell: ${model(endpoint('fireworks', 'accounts/fireworks/models/flux-1-schnell-fp8'))}
  a/deepinfra: ${model(endpoint('deepinfra', 'stabilityai/sdxl-turbo'))}
  a/two: ${model(endpoint('black-forest-labs', 'flux-2-pro'), endpoint('fal', 'fal-ai/flux/dev'))}
`,
  });
});
after(async () => {
  await gateway.close();
  upstream.close();
});

interface Made {
  readonly status: number;
  readonly body: JsonObject;
  readonly cost: unknown;
}

async function makePicture(model: string, more: JsonObject = {}): Promise<Made> {
  upstream.seen.length = 0;
  const response = await gateway.post('/images', { model, prompt: 'a cat', ...more });
  const body = (await response.json()) as JsonObject;
  const found = await fetch(`${gateway.baseUrl}/generation?id=${response.headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = (await found.json()) as { data?: JsonObject };
  return { status: response.status, body, cost: data?.['total_cost'] };
}

const errorOf = ({ body }: Made): JsonObject => body['error'] as JsonObject;

/** What the gateway is to send for a request with all that the vendor has words for. */
interface Case {
  readonly vendor: PictureVendor;
  readonly model: string;
  readonly request: JsonObject;
  readonly path: string;
  readonly sent: JsonObject;
}

const reference = { input_references: [{ type: 'image_url', image_url: { url: DATA_URL } }] };

const CASES: Readonly<Record<string, Case>> = {
  'Black Forest Labs': {
    vendor: BFL,
    model: 'a/flux-2',
    request: {
      size: '1024x1536',
      seed: 7,
      output_format: 'png',
      quality: 'high',
      input_references: [...reference.input_references, ...reference.input_references],
      provider: { options: { 'black-forest-labs': { safety_tolerance: 1 } } },
    },
    path: '/v1/flux-2-pro',
    sent: {
      prompt: 'a cat',
      width: 1_024,
      height: 1_536,
      seed: 7,
      output_format: 'png',
      input_image: BASE64,
      input_image_2: BASE64,
      safety_tolerance: 1,
    },
  },
  'Black Forest Labs, of a model that knows ratios': {
    vendor: BFL,
    model: 'a/kontext',
    request: { size: '1024x1536', ...reference },
    path: '/v1/flux-kontext-pro',
    sent: { prompt: 'a cat', aspect_ratio: '2:3', input_image: BASE64 },
  },
  fal: {
    vendor: FAL,
    model: 'a/flux-dev',
    request: {
      aspect_ratio: '16:9',
      seed: 7,
      output_format: 'jpeg',
      ...reference,
      provider: { options: { fal: { guidance_scale: 3 } } },
    },
    path: '/fal-ai/flux/dev',
    sent: {
      prompt: 'a cat',
      image_size: { width: 1_360, height: 768 },
      seed: 7,
      output_format: 'jpeg',
      image_url: DATA_URL,
      guidance_scale: 3,
    },
  },
  Replicate: {
    vendor: REPLICATE,
    model: 'a/flux-pro',
    request: {
      size: '1024x576',
      seed: 7,
      output_format: 'jpeg',
      provider: { options: { replicate: { safety_tolerance: 2 } } },
    },
    path: '/v1/models/black-forest-labs/flux-1.1-pro/predictions',
    sent: { input: { prompt: 'a cat', aspect_ratio: '16:9', seed: 7, output_format: 'jpg', safety_tolerance: 2 } },
  },
  'Replicate, of a version': {
    vendor: REPLICATE,
    model: 'a/version',
    request: {},
    path: '/v1/predictions',
    sent: { version: '0a'.repeat(32), input: { prompt: 'a cat' } },
  },
  Fireworks: {
    vendor: FIREWORKS_KONTEXT,
    model: 'a/fireworks-kontext',
    request: { aspect_ratio: '16:9', seed: 7, output_format: 'png', ...reference },
    path: '/v1/workflows/accounts/fireworks/models/flux-kontext-pro',
    sent: { prompt: 'a cat', aspect_ratio: '16:9', seed: 7, output_format: 'png', input_image: DATA_URL },
  },
};

describe('pictures that vendors make in jobs', () => {
  for (const [name, { vendor, model, request, path, sent }] of Object.entries(CASES)) {
    // @spec image-16
    test(`are made by ${name}: requested in its words, waited for, fetched, and charged once`, async () => {
      serveVendor(upstream, vendor, 'done');
      const { status, body, cost } = await makePicture(model, request);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body['data'], [{ b64_json: BASE64, media_type: 'image/png' }]);
      assert.equal(cost, 0.04);
      const [call] = upstream.seen;
      assert.ok(call !== undefined);
      assert.equal(call.path, path);
      assert.deepEqual(call.body, sent);
    });
  }

  // @spec image-17
  test('that are refused are 400 and free, and no other provider is called', async () => {
    for (const { vendor, model } of Object.values(CASES)) {
      serveVendor(upstream, vendor, 'refused', 0);
      const refused = await makePicture(model);
      assert.deepEqual(
        [refused.status, errorOf(refused)['type'], refused.cost],
        [400, 'content_policy_violation', 0],
        `${model}: ${JSON.stringify(refused.body)}`,
      );
    }
  });

  // @spec image-17
  test('that fail are 502 and free, where no other provider is left', async () => {
    for (const { vendor, model } of Object.values(CASES)) {
      serveVendor(upstream, vendor, 'failed', 0);
      const failed = await makePicture(model);
      assert.deepEqual([failed.status, failed.cost], [502, 0], `${model}: ${JSON.stringify(failed.body)}`);
    }
  });

  // @spec image-17
  test('that one vendor fails to make are made by the next one', async () => {
    serveVendor(upstream, BFL, 'failed', 0);
    const first = upstream.answer;
    serveVendor(upstream, FAL, 'done', 0);
    const second = upstream.answer;
    upstream.answer = (call, response, number) =>
      (call.headers['x-key'] === undefined ? second : first)(call, response, number);
    const { status, body } = await makePicture('a/two');
    assert.deepEqual([status, body['provider']], [200, 'fal']);
  });

  // @spec image-17
  test('whose looks fail for a moment are waited for', async () => {
    serveVendor(upstream, BFL, 'done', 0);
    const { answer } = upstream;
    let looks = 0;
    upstream.answer = (call, response, number) => {
      if (call.method === 'GET' && call.path.startsWith('/v1/get_result') && looks++ === 0)
        return sendJson(response, { detail: 'Bad gateway' }, 502);
      return answer(call, response, number);
    };
    const { status } = await makePicture('a/flux-2');
    assert.equal(status, 200);
    assert.equal(looks, 2);
  });

  // @spec image-16
  test('are looked at on the hosts of their vendor alone: the key goes nowhere else', async () => {
    const other = new RawUpstream();
    await other.start();
    other.answer = (_call, response) => sendJson(response, { status: 'Ready', result: { sample: upstream.url } });
    upstream.answer = (_call, response) =>
      sendJson(response, { id: 'abc123', polling_url: `${other.url}/v1/get_result?id=abc123` });
    const failed = await makePicture('a/flux-2');
    assert.deepEqual([failed.status, upstream.seen.length, other.seen.length], [502, 1, 0]);
    other.close();
  });

  // @spec image-17
  test('are cancelled where the vendor can, when the caller hangs up', async () => {
    for (const [vendor, model] of [
      [FAL, 'a/flux-dev'],
      [REPLICATE, 'a/flux-pro'],
    ] as const) {
      const state = serveVendor(upstream, vendor, 'done', Number.MAX_SAFE_INTEGER);
      upstream.seen.length = 0;
      const hangUp = new AbortController();
      const { answer } = upstream;
      const cancelled = new Promise<void>((resolve) => {
        upstream.answer = (call, response, number) => {
          if (upstream.seen.length === 3) hangUp.abort();
          answer(call, response, number);
          if (state.isCancelled) resolve();
        };
      });
      await assert.rejects(gateway.post('/images', { model, prompt: 'a cat' }, {}, hangUp.signal));
      await cancelled;
    }
  });

  // @spec image-16
  test('are 400 before a call for what a vendor has no word for', async () => {
    serveVendor(upstream, BFL, 'done', 0);
    for (const [model, more, path] of [
      ['a/flux-2', { n: 2 }, 'n'],
      ['a/flux-2', { size: '1000x1000' }, 'size'],
      ['a/flux-2', { output_format: 'webp' }, 'output_format'],
      ['a/kontext', { aspect_ratio: '8:1' }, 'aspect_ratio'],
      ['a/flux-pro', { aspect_ratio: '8:1' }, 'aspect_ratio'],
      ['a/flux-pro', reference, 'input_references[0].image_url.url'],
      ['a/schnell', reference, 'input_references[0].image_url.url'],
      [
        'a/flux-dev',
        { provider: { options: { fal: { webhook_url: 'https://example.com' } } } },
        'provider.options.fal.webhook_url',
      ],
    ] as const) {
      const refused = await makePicture(model, more);
      const metadata = errorOf(refused)['metadata'] as { issues?: readonly JsonObject[] } | undefined;
      assert.deepEqual([refused.status, metadata?.issues?.[0]?.['path']], [400, path], JSON.stringify(refused.body));
      assert.equal(upstream.seen.length, 0);
    }
  });
});

describe('pictures of Fireworks and DeepInfra that come at once', () => {
  // @spec image-18
  test('are the bytes of the answer, in the format of its header', async () => {
    upstream.answer = (call, response) => {
      assert.equal(call.headers['authorization'], 'Bearer sk');
      response.writeHead(200, { 'content-type': 'image/png' });
      response.end(PICTURE);
    };
    const { body, cost } = await makePicture('a/schnell', { aspect_ratio: '16:9', output_format: 'jpeg' });
    assert.deepEqual(body['data'], [{ b64_json: BASE64, media_type: 'image/png' }]);
    assert.equal(cost, 0.04);
    const [call] = upstream.seen;
    assert.equal(call?.path, '/v1/workflows/accounts/fireworks/models/flux-1-schnell-fp8/text_to_image');
    assert.deepEqual([call.headers['accept'], call.body], ['image/jpeg', { prompt: 'a cat', aspect_ratio: '16:9' }]);
  });

  // @spec image-18
  test('are made in the form of OpenAI by DeepInfra, edits by a form', async () => {
    upstream.answer = (_call, response) => sendJson(response, { created: 1, data: [{ b64_json: BASE64 }] });
    const { body } = await makePicture('a/deepinfra', { size: '512x512', seed: 7 });
    assert.deepEqual(body['data'], [{ b64_json: BASE64, media_type: 'image/png' }]);
    const [call] = upstream.seen;
    assert.deepEqual(
      [call?.path, call?.body],
      [
        '/v1/openai/images/generations',
        { model: 'stabilityai/sdxl-turbo', prompt: 'a cat', size: '512x512', response_format: 'b64_json' },
      ],
    );
    await makePicture('a/deepinfra', reference);
    assert.equal(upstream.seen[0]?.path, '/v1/openai/images/edits');
    assert.ok((await formOf(upstream.seen[0] ?? assert.fail())).get('image') instanceof Blob);
  });
});
