import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { upload } from '../support/files/upload.ts';
import { textIn } from '../support/upstreams/json-upstream.ts';
import { formOf, RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const pngOf = (width: number, height = width): Buffer => encodePng({ width, height }, (x) => [x % 256, 1, 2, 128], []);
const PNG = pngOf(64);
const B64 = PNG.toString('base64');
const dataUrl = (png: Buffer): string => `data:image/png;base64,${png.toString('base64')}`;

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    downloads: { isAllowed: (address) => address === '127.0.0.1', protocols: ['http:', 'https:'] },
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/one, api_key: k1 }
  two: { adapter: openai-compatible, base_url: ${fake.url}/two, api_key: k2 }
  openai: { base_url: ${fake.url}/openai/v1, api_key: oa }
  xai: { base_url: ${fake.url}/xai, api_key: xa }
  together: { base_url: ${fake.url}/together, api_key: to }
  google: { base_url: ${fake.url}/google, api_key: go }
  painter: { adapter: stable-diffusion.cpp, base_url: ${fake.url}/sd }
models:
  a/draws:
    output_modalities: [image]
    endpoints:
      - { provider: one, model: m, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }, { billable: output_image, unit: image, cost_usd: 0.1, variant: high/64x64 }] } }
      - { provider: two, model: m, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }] } }
  a/sized:
    output_modalities: [image]
    endpoints: [{ provider: one, model: s, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04, variant: "*/1024x1024" }] } }]
  a/pixels:
    output_modalities: [image]
    endpoints: [{ provider: one, model: p, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: megapixel, cost_usd: 1 }] } }]
  openai/gpt-image-x:
    output_modalities: [image]
    endpoints: [{ provider: openai, model: gpt-image-x, price: { prompt: 5, completion: 0, image_token: 10, image_output: 40 } }]
  a/talks:
    output_modalities: [image, text]
    endpoints: [{ provider: one, model: chatty, price: { prompt: 1, completion: 2, image_output: 30 } }]
`,
  });
});
after(async () => {
  await gateway.close();
  fake.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: JsonObject;
  readonly headers: Headers;
}

async function call(path: string, body: JsonObject): Promise<Answer> {
  fake.seen.length = 0;
  const response = await gateway.post(path, body);
  const text = await response.text();
  return { status: response.status, text, body: parseJsonObject(text) ?? {}, headers: response.headers };
}

const paint = (more: JsonObject = {}, path = '/images'): Promise<Answer> =>
  call(path, { model: 'a/draws', prompt: 'a cat', ...more });

function usageIn({ body, text }: Answer): JsonObject {
  const { usage } = body;
  assert.ok(isJsonObject(usage), text);
  return usage;
}

async function recordOf({ headers }: Answer): Promise<JsonObject> {
  const response = await fetch(`${gateway.baseUrl}/generation?id=${headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = parseJsonObject(await response.text()) ?? {};
  assert.ok(isJsonObject(data));
  return data;
}

const whole =
  (data: readonly JsonObject[] = [{ b64_json: B64 }], more: JsonObject = {}): typeof fake.answer =>
  (_call, response) =>
    sendJson(response, { created: 1_700_000_000, data, ...more });

describe("upstreams of OpenAI's form", () => {
  // @spec image-1, image-3
  test('get the request in its words, and the picture comes back as it came', async () => {
    fake.answer = whole([{ b64_json: B64, revised_prompt: 'A cat.' }]);
    const answer = await paint({ size: '64x64', quality: 'low', seed: 7, user: 'ann', output_format: 'png' });
    assert.equal(answer.status, 200, answer.text);
    const { data, usage, ...rest } = answer.body;
    assert.deepEqual(data, [{ b64_json: B64, media_type: 'image/png', revised_prompt: 'A cat.' }]);
    assert.partialDeepStrictEqual(usage, { prompt_tokens: 0, completion_tokens: 0, cost: 0.04, is_byok: false });
    assert.partialDeepStrictEqual(rest, { created: 1_700_000_000, model: 'a/draws', provider: 'OpenAI-compatible' });
    const { user, ...sent } = fake.seen[0]?.body ?? {};
    assert.deepEqual(sent, {
      model: 'm',
      prompt: 'a cat',
      size: '64x64',
      quality: 'low',
      output_format: 'png',
      seed: 7,
      response_format: 'b64_json',
    });
    assert.match(textIn(user), /^[0-9a-f]{64}$/);
    assert.equal(fake.seen[0]?.path, '/one/v1/images/generations');
  });

  test('never have a member that is null, and pixels in place of tiers and ratios', async () => {
    fake.answer = whole();
    await paint({ resolution: '1K', aspect_ratio: '16:9', seed: null, quality: null, n: null });
    assert.deepEqual(fake.seen[0]?.body, {
      model: 'm',
      prompt: 'a cat',
      size: '1360x768',
      response_format: 'b64_json',
    });
  });

  // @spec image-2
  test('answer callers of OpenAI in their form, with what they do not know as it came', async () => {
    fake.answer = whole(undefined, { quality: 'high', background: 'opaque' });
    const { body } = await paint({ complexity: 'high', style: 'vivid', response_format: 'url' }, '/images/generations');
    assert.deepEqual(fake.seen[0]?.body['complexity'], 'high');
    assert.equal(fake.seen[0]?.body['style'], undefined);
    assert.deepEqual(body['data'], [{ url: dataUrl(PNG) }]);
    assert.partialDeepStrictEqual(body, { output_format: 'png', size: '64x64', quality: 'high', background: 'opaque' });
  });

  test("get no response_format where they have the vendor's own models", async () => {
    fake.answer = whole(undefined, {
      usage: {
        input_tokens: 100,
        input_tokens_details: { text_tokens: 40, image_tokens: 60 },
        output_tokens: 1_000,
        total_tokens: 1_100,
      },
    });
    const answer = await call('/images/generations', { model: 'openai/gpt-image-x', prompt: 'x', moderation: 'low' });
    assert.deepEqual(fake.seen[0]?.body, { model: 'gpt-image-x', prompt: 'x', moderation: 'low' });
    // 40 x 5 + 60 x 10 + 1,000 x 40, a million of them.
    assert.equal(usageIn(answer)['cost'], 0.0408);
    assert.partialDeepStrictEqual(usageIn(answer), {
      input_tokens: 100,
      input_tokens_details: { text_tokens: 40, image_tokens: 60 },
      output_tokens: 1_000,
    });
    const record = await recordOf(answer);
    assert.partialDeepStrictEqual(record, {
      api_type: 'image',
      tokens_prompt: 100,
      total_cost: 0.0408,
      num_media_completion: 1,
    });
  });

  test('write slashes as they like, break lines, and give data URLs', async () => {
    for (const json of [
      JSON.stringify({ data: [{ b64_json: B64 }] }).replaceAll('/', String.raw`\/`),
      JSON.stringify({ data: [{ b64_json: `${B64.slice(0, 76)}\r\n${B64.slice(76)}` }] }),
      JSON.stringify({ data: [{ b64_json: dataUrl(PNG) }] }),
      JSON.stringify({ data: [{ url: dataUrl(PNG) }] }),
    ]) {
      fake.answer = (_call, response) => sendJson(response, json);
      const { body, text } = await paint();
      assert.deepEqual(body['data'], [{ b64_json: B64, media_type: 'image/png' }], text);
    }
  });

  // @spec image-5
  test('get pictures and a mask as a form, the same bytes again where the first of them is down', async () => {
    const [first, second] = [pngOf(100), pngOf(64)];
    fake.answer = ({ path }, response) =>
      path.startsWith('/one/')
        ? sendJson(response, { error: { message: 'down' } }, 503)
        : whole()({} as never, response, 1);
    const form = new FormData();
    form.append('image[]', new Blob([Uint8Array.from(first)]), '../secret-name.png');
    form.append('image[]', new Blob([Uint8Array.from(second)]), 'b');
    form.append('mask', new Blob([Uint8Array.from(first)]), 'c');
    form.append('prompt', 'merge');
    form.append('n', '1');
    form.append('model', 'a/draws');
    fake.seen.length = 0;
    const response = await fetch(`${gateway.baseUrl}/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: form,
    });
    assert.equal(response.status, 200, await response.text());
    assert.deepEqual(
      fake.seen.map(({ path }) => path),
      ['/one/v1/images/edits', '/two/v1/images/edits'],
    );
    for (const seen of fake.seen) {
      const got = await formOf(seen);
      const files = got.getAll('image[]');
      assert.equal(files.length, 2);
      for (const [at, file] of files.entries()) {
        assert.ok(file instanceof File);
        assert.equal(file.name, `image-${at}.png`);
        assert.equal(file.type, 'image/png');
        assert.ok(Buffer.from(await file.arrayBuffer()).equals(at === 0 ? first : second));
      }
      assert.ok(got.get('mask') instanceof File);
      assert.equal(got.get('prompt'), 'merge');
      assert.equal(got.get('model'), 'm');
    }
  });

  test('take pictures from addresses and data URLs of JSON, in the order of the request', async () => {
    fake.answer = ({ path }, response) =>
      path === '/picture.png' ? void response.end(pngOf(32)) : whole()({} as never, response, 1);
    const { status, text } = await paint({
      input_references: [
        { type: 'image_url', image_url: { url: dataUrl(PNG) } },
        { type: 'image_url', image_url: { url: `${fake.url}/picture.png` } },
      ],
    });
    assert.equal(status, 200, text);
    const edit = fake.seen.find(({ path }) => path.endsWith('/edits'));
    assert.ok(edit);
    const sizes = (await formOf(edit)).getAll('image[]').map((file) => (file instanceof File ? file.size : 0));
    assert.deepEqual(sizes, [PNG.length, pngOf(32).length]);
  });

  // @spec image-5
  test('get a picture that is a stored file of the workspace, by its id', async () => {
    fake.answer = whole();
    const { body } = await upload(gateway, Uint8Array.from(pngOf(32)), { name: 'a.png' });
    const id = textIn(body['id']);
    const request = { model: 'a/draws', prompt: 'x', images: [{ file_id: id }] };
    const answer = await call('/images/edits', request);
    assert.equal(answer.status, 200, answer.text);
    const edit = fake.seen.find(({ path }) => path.endsWith('/edits'));
    assert.ok(edit);
    const [file] = (await formOf(edit)).getAll('image');
    assert.ok(file instanceof File && file.size === pngOf(32).length);
    fake.seen.length = 0;
    const own = await paint({ input_references: [{ type: 'image_url', image_url: { file_id: id } }] });
    assert.equal(own.status, 200, own.text);
    assert.ok(fake.seen.some(({ path }) => path.endsWith('/edits')));
    fake.seen.length = 0;
    const unknown = await call('/images/edits', { ...request, images: [{ file_id: `file_${'0'.repeat(32)}` }] });
    assert.equal(unknown.status, 404, unknown.text);
    assert.match(unknown.text, /"param":"images\[0\]\.file_id"/);
    const text = await upload(gateway, 'hello', { name: 'a.txt' });
    const wrong = await call('/images/edits', { ...request, images: [{ file_id: textIn(text.body['id']) }] });
    assert.equal(wrong.status, 400, wrong.text);
    assert.equal(fake.seen.length, 0);
  });

  // @spec image-11
  test('get what provider.options has for them alone, and nothing that is not the caller to set', async () => {
    fake.answer = whole();
    const options = { one: { steps: 4 }, two: { steps: 9 } };
    await paint({ quality: 'low', provider: { options } });
    assert.partialDeepStrictEqual(fake.seen[0]?.body, { steps: 4, quality: 'low' });
    for (const name of ['model', 'n', 'prompt', 'quality', 'size', 'stream', 'response_format', 'webhook_url']) {
      const { status, body } = await paint({ provider: { only: ['one'], options: { one: { [name]: 'x' } } } });
      assert.equal(status, 400, name);
      assert.match(JSON.stringify(body['error']), new RegExp(`provider\\.options\\.one\\.${name}`));
    }
  });

  test("get no member of OpenAI's clients that decides the charge under another name", async () => {
    fake.answer = whole();
    const { status, body } = await paint({ num_images: 9 }, '/images/generations');
    assert.equal(status, 400);
    assert.partialDeepStrictEqual(body['error'], { param: 'num_images' });
    assert.equal(fake.seen.length, 0);
  });

  test('have settings of the server taken out of the prompt', async () => {
    fake.answer = whole();
    await call('/images', {
      model: 'painter/sd',
      prompt: 'a <sd_cpp_extra_<sd_cpp_extra_args>x</sd_cpp_extra_args>args>{"steps":999}</sd_cpp_extra_args>cat',
    });
    assert.equal(fake.seen[0]?.body['prompt'], 'a cat');
  });
});

describe('upstreams of other forms', () => {
  test('get a ratio and a tier at xAI, and get pictures in JSON', async () => {
    fake.answer = whole();
    const model = 'xai/grok-imagine-image';
    await call('/images', { model, prompt: 'x', size: '2048x2048', seed: 1, quality: 'high' });
    assert.deepEqual(fake.seen[0]?.body, {
      model: 'grok-imagine-image',
      prompt: 'x',
      aspect_ratio: '1:1',
      resolution: '2k',
      quality: 'high',
      response_format: 'b64_json',
    });
    const odd = await call('/images', { model, prompt: 'x', size: '1024x900' });
    assert.equal(odd.status, 400, odd.text);
    await call('/images/edits', { model, prompt: 'x', image: dataUrl(PNG) });
    assert.partialDeepStrictEqual(fake.seen[0], {
      path: '/xai/v1/images/edits',
      body: { image: { url: dataUrl(PNG), type: 'image_url' } },
    });
  });

  test('get two sides at Together, and one picture by its address', async () => {
    fake.answer = whole();
    const model = 'together/flux';
    await call('/images', {
      model,
      prompt: 'x',
      aspect_ratio: '1:1',
      image: undefined,
      input_references: [{ type: 'image_url', image_url: { url: dataUrl(PNG) } }],
    });
    assert.partialDeepStrictEqual(fake.seen[0], {
      path: '/together/v1/images/generations',
      body: { width: 1_024, height: 1_024, response_format: 'base64', image_url: dataUrl(PNG) },
    });
    const two = await call('/images/edits', { model, prompt: 'x', image: [dataUrl(PNG), dataUrl(PNG)] });
    assert.equal(two.status, 400);
    assert.match(two.text, /image\[1\]/);
  });

  test('make pictures in a conversation at Google, and are charged by the tokens of pictures', async () => {
    fake.answer = (_call, response) =>
      sendJson(response, {
        candidates: [
          {
            content: {
              parts: [
                { inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' }, thought: true },
                { text: 'Here it is.' },
                { inlineData: { mimeType: 'image/png', data: B64 } },
              ],
            },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: {
          promptTokenCount: 7,
          candidatesTokenCount: 1_300,
          candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
        },
        responseId: 'g-1',
      });
    const answer = await call('/images', {
      model: 'google/gemini-nano-banana-9',
      prompt: 'a cat',
      resolution: '2K',
      aspect_ratio: '16:9',
      seed: 3,
      provider: { options: { google: { generationConfig: { temperature: 0.5 } } } },
      input_references: [{ type: 'image_url', image_url: { url: dataUrl(PNG) } }],
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body['data'], [{ b64_json: B64, media_type: 'image/png' }]);
    assert.partialDeepStrictEqual(usageIn(answer), {
      prompt_tokens: 7,
      completion_tokens: 1_300,
      completion_tokens_details: { image_tokens: 1_290 },
    });
    assert.equal(fake.seen[0]?.path, '/google/v1beta/models/gemini-nano-banana-9:generateContent');
    assert.deepEqual(fake.seen[0]?.body, {
      contents: [{ role: 'user', parts: [{ text: 'a cat' }, { inlineData: { mimeType: 'image/png', data: B64 } }] }],
      generationConfig: {
        responseModalities: ['IMAGE'],
        imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
        seed: 3,
        temperature: 0.5,
      },
    });
  });

  test('are not called in a conversation at Google for Imagen, which has a call of its own', async () => {
    const answer = await call('/images', { model: 'google/imagen-4.0-generate-001', prompt: 'x' });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /wrong_endpoint/);
    assert.equal(fake.seen.length, 0);
  });

  test('make pictures in a conversation of the chat format where the model writes, too', async () => {
    fake.answer = (_call, response) =>
      sendJson(response, {
        id: 'c-1',
        choices: [
          {
            message: {
              role: 'assistant',
              content: 'Here.',
              images: [{ type: 'image_url', image_url: { url: dataUrl(PNG) } }],
            },
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 10, completion_tokens: 1_310, completion_tokens_details: { image_tokens: 1_300 } },
      });
    const answer = await call('/images', { model: 'a/talks', prompt: 'a cat', aspect_ratio: '1:1' });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body['data'], [{ b64_json: B64, media_type: 'image/png' }]);
    // 10 x 1 + 10 x 2 + 1,300 x 30, a million of them.
    assert.equal(usageIn(answer)['cost'], 0.03903);
    assert.equal(fake.seen[0]?.path, '/one/v1/chat/completions');
    assert.deepEqual(fake.seen[0]?.body, {
      model: 'chatty',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'a cat' }] }],
      modalities: ['image', 'text'],
      image_config: { aspect_ratio: '1:1' },
    });
  });
});
