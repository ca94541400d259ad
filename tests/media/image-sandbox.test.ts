import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { isJsonObject, parseJsonObject } from '../../src/lib/json.ts';
import { pictureSizeOf } from '../../src/lib/pictures/picture-size.ts';
import { textIn } from '../support/upstreams/json-upstream.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';

const MODEL = 'sandbox/image';
let gateway: RunningGateway;
let client: OpenAI;
before(async () => {
  gateway = await startGateway({ yaml: 'defaults: { image_model: sandbox/image }\n' });
  client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
});
after(() => gateway.close());

function pngIn(base64: string | undefined): Buffer {
  const png = Buffer.from(base64 ?? '', 'base64');
  assert.equal(png.toString('latin1', 1, 4), 'PNG');
  return png;
}

async function manage(path: string, body?: unknown, method = 'POST') {
  const response = await fetch(gateway.baseUrl + path, {
    method: body === undefined ? 'GET' : method,
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return parseJsonObject(await response.text()) ?? {};
}

async function picturesOf(body: object) {
  const response = await gateway.post('/images', body);
  const { data, error } = (await response.json()) as {
    data?: readonly { readonly b64_json: string }[];
    error?: { readonly message: string };
  };
  return { status: response.status, data, error };
}

describe("pictures of the sandbox, with OpenAI's client", () => {
  // @spec image-1, image-2
  test('are made in the requested size and number, the same for the same request', async () => {
    const request = { model: MODEL, prompt: 'a red fox', size: '128x64', n: 2 } as const;
    const [first, second] = await Promise.all([client.images.generate(request), client.images.generate(request)]);
    assert.equal(first.data?.length, 2);
    assert.deepEqual(first.data, second.data);
    assert.notEqual(first.data?.[0]?.b64_json, first.data?.[1]?.b64_json);
    assert.deepEqual(pictureSizeOf(pngIn(first.data?.[0]?.b64_json), 'png'), { width: 128, height: 64 });
    assert.partialDeepStrictEqual(first, { output_format: 'png', size: '128x64' });
    assert.partialDeepStrictEqual(first.usage, { input_tokens: 3, output_tokens: 64, total_tokens: 67 });
  });

  // @spec image-2
  test('are made in every ratio, and refused beyond what the model paints', async () => {
    const ratios = '1:1 1:2 1:4 1:8 2:1 2:3 3:2 3:4 4:1 4:3 4:5 5:4 8:1 9:16 16:9 9:19.5 19.5:9 9:20 20:9 9:21 21:9';
    for (const ratio of ratios.split(' ')) {
      const body = { model: MODEL, prompt: 'a fox', aspect_ratio: ratio, resolution: '1K' };
      const { status, data } = await picturesOf(body);
      assert.equal(status, 200, ratio);
      const size = pictureSizeOf(pngIn(data?.[0]?.b64_json), 'png') ?? { width: 0, height: 1 };
      const [width = 0, height = 0] = ratio.split(':').map(Number);
      assert.ok(
        Math.abs(size.width / size.height / (width / height) - 1) < 0.05,
        `${ratio}: ${size.width}x${size.height}`,
      );
    }
    for (const size of ['3072x3072', '4096x16']) {
      const { status, error } = await picturesOf({ model: MODEL, prompt: 'a fox', size });
      assert.equal(status, 400, size);
      assert.match(error?.message ?? '', /size: must be from 16x16 to 3072x3072, of at most 1179648 pixels, or auto/);
    }
  });

  test('are of the default model where the request names none, and drawings where they are wanted', async () => {
    const { data } = await client.images.generate({ prompt: 'a <red> fox', output_format: 'svg' });
    const svg = Buffer.from(data?.[0]?.b64_json ?? '', 'base64').toString();
    assert.match(svg, /^<svg .*<title>a &lt;red> fox<\/title>/);
  });

  // @spec image-10
  test('come with previews in a stream', async () => {
    const types: string[] = [];
    const pictures: string[] = [];
    const stream = await client.images.generate({ model: MODEL, prompt: 'a fox', stream: true, partial_images: 3 });
    for await (const event of stream) {
      types.push(event.type);
      pictures.push(event.b64_json);
      if (event.type === 'image_generation.completed') assert.equal(event.usage.output_tokens, 256);
    }
    assert.deepEqual(types, [
      ...Array.from({ length: 3 }, () => 'image_generation.partial_image'),
      'image_generation.completed',
    ]);
    const { data } = await client.images.generate({ model: MODEL, prompt: 'a fox' });
    assert.equal(pictures.at(-1), data?.[0]?.b64_json);
  });

  // @spec image-5
  test('are made from pictures, whole and in a stream', async () => {
    const sources = [pngIn(await single('one')), pngIn(await single('two'))];
    const image = await Promise.all(sources.map((png, at) => toFile(png, `${at}.png`)));
    const edited = await client.images.edit({
      model: MODEL,
      prompt: 'both',
      image,
      mask: await toFile(sources[0] ?? Buffer.alloc(0), 'm.png'),
    });
    const png = pngIn(edited.data?.[0]?.b64_json).toString('latin1');
    for (const source of sources) assert.ok(png.includes(createHash('sha256').update(source).digest('hex')));
    const stream = await client.images.edit({
      model: MODEL,
      prompt: 'one',
      image: await toFile(sources[0] ?? Buffer.alloc(0), 'a.png'),
      stream: true,
    });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    assert.deepEqual(types, ['image_edit.partial_image', 'image_edit.completed']);
  });

  async function single(prompt: string): Promise<string | undefined> {
    return (await client.images.generate({ model: MODEL, prompt })).data?.[0]?.b64_json;
  }

  test('are refused with the path of what is wrong', async () => {
    await assert.rejects(client.images.generate({ model: MODEL, prompt: 'x', n: 11 }), { status: 400, param: 'n' });
    await assert.rejects(client.images.generate({ model: 'sandbox/echo', prompt: 'x' }), {
      status: 400,
      param: 'model',
    });
    const image = await toFile(Buffer.from('no picture'), 'a.png');
    await assert.rejects(client.images.edit({ model: MODEL, prompt: 'x', image }), { status: 400, param: 'image' });
  });
});

describe('pictures of the sandbox, with the AI SDK', () => {
  test('are made, and made from pictures', async () => {
    const provider = createOpenAICompatible({ name: 'gateway', baseURL: gateway.baseUrl, apiKey: API_KEY });
    const model = provider.imageModel(MODEL);
    const { images, usage } = await generateImage({ model, prompt: 'a fox', size: '64x64', n: 2 });
    assert.equal(images.length, 2);
    assert.equal(images[0]?.mediaType, 'image/png');
    assert.ok((usage.outputTokens ?? 0) > 0);
    const [source] = images;
    assert.ok(source);
    const edited = await generateImage({ model, prompt: { text: 'a wolf', images: [source.uint8Array] } });
    assert.equal(edited.image.mediaType, 'image/png');
  });
});

describe('what pictures share with all requests', () => {
  // @spec image-12
  test('has filters that replace text of the prompt, for the provider as for the record', async () => {
    const { data } = await manage('/guardrails', {
      name: 'no names',
      content_filters: [{ pattern: 'Ann Smith', action: 'redact', label: 'NAME' }],
    });
    assert.ok(isJsonObject(data), JSON.stringify(data));
    const key = await manage('/keys', { name: 'filtered' });
    assert.ok(isJsonObject(key['data']));
    await manage(`/guardrails/${textIn(data['id'])}/assignments/keys`, { key_hashes: [textIn(key['data']['hash'])] });
    const headers = { authorization: `Bearer ${textIn(key['key'])}` };
    const response = await gateway.post('/images', { model: MODEL, prompt: 'Ann Smith on a horse' }, headers);
    const body = parseJsonObject(await response.text()) ?? {};
    assert.equal(response.status, 200, JSON.stringify(body));
    const [picture] = Array.isArray(body['data']) ? body['data'] : [];
    assert.ok(isJsonObject(picture));
    const png = pngIn(textIn(picture['b64_json'])).toString('latin1');
    assert.match(png, /\0NAME on a horse/);
    assert.doesNotMatch(png, /Ann Smith/);
  });

  // @spec image-13
  test('has lists of the models and of their endpoints', async () => {
    const list = await fetch(`${gateway.baseUrl}/images/models`).then((response) => response.text());
    const { data } = parseJsonObject(list) ?? {};
    assert.ok(Array.isArray(data));
    const model = data.find((one) => isJsonObject(one) && one['id'] === MODEL);
    assert.partialDeepStrictEqual(model, {
      supported_parameters: {
        n: { type: 'range', min: 1, max: 10 },
        output_format: { type: 'enum', values: ['png', 'svg'] },
        input_references: { type: 'range', min: 0, max: 16 },
        seed: { type: 'boolean' },
      },
      supports_streaming: true,
      endpoints: '/images/models/sandbox/image/endpoints',
    });
    const endpoints = await fetch(`${gateway.baseUrl}/images/models/sandbox/image/endpoints`);
    assert.partialDeepStrictEqual(parseJsonObject(await endpoints.text()), {
      id: MODEL,
      endpoints: [
        { provider_slug: 'sandbox', supports_streaming: true, pricing: [{ unit: 'token', cost_usd: 0 }, {}, {}] },
      ],
    });
    const none = await fetch(`${gateway.baseUrl}/images/models/sandbox/echo/endpoints`);
    assert.equal(none.status, 404);
  });

  test('has a record that knows the pictures', async () => {
    const { response } = await client.images.generate({ model: MODEL, prompt: 'x', n: 3, size: 'auto' }).withResponse();
    const id = response.headers.get('x-generation-id') ?? '';
    const row = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { data } = parseJsonObject(await row.text()) ?? {};
    assert.partialDeepStrictEqual(data, { api_type: 'image', num_media_completion: 3, streamed: false, total_cost: 0 });
    assert.equal(response.headers.get('x-provider'), 'Sandbox');
  });
});
