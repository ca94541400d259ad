import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { textIn } from '../support/upstreams/json-upstream.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const PNG = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []);
const B64 = PNG.toString('base64');
const IMAGE_PRICE = '{ prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }] }';

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
images: { hold_usd: 0.5 }
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/one/v1, api_key: k1 }
  two: { adapter: openai-compatible, base_url: ${fake.url}/two/v1, api_key: k2 }
  google: { base_url: ${fake.url}/google, api_key: go }
  xai: { base_url: ${fake.url}/xai/v1, api_key: xa }
models:
  a/draws:
    output_modalities: [image]
    endpoints:
      - { provider: one, model: m, price: ${IMAGE_PRICE} }
      - { provider: two, model: m, price: ${IMAGE_PRICE} }
  a/lines:
    output_modalities: [image]
    endpoints:
      - provider: one
        model: l
        price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.01, variant: "*/64x64" }, { billable: output_image, unit: image, cost_usd: 0.2, variant: high/64x64 }] }
  a/sized:
    output_modalities: [image]
    endpoints: [{ provider: one, model: s, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04, variant: "*/1024x1024" }] } }]
  a/pixels:
    output_modalities: [image]
    endpoints: [{ provider: one, model: p, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: megapixel, cost_usd: 1 }] } }]
  a/lines-of-tokens:
    output_modalities: [image]
    endpoints: [{ provider: one, model: lt, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: token, cost_usd: 0.00001 }] } }]
  a/tokens:
    output_modalities: [image]
    endpoints: [{ provider: one, model: gpt-image-t, price: { prompt: 5, completion: 0, image_output: 40 } }]
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

async function paint(more: JsonObject = {}, path = '/images'): Promise<Answer> {
  fake.seen.length = 0;
  const response = await gateway.post(path, { model: 'a/draws', prompt: 'a cat', ...more });
  const text = await response.text();
  return { status: response.status, text, body: parseJsonObject(text) ?? {}, headers: response.headers };
}

async function costOf({ headers }: Pick<Answer, 'headers'>): Promise<unknown> {
  const response = await fetch(`${gateway.baseUrl}/generation?id=${headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = parseJsonObject(await response.text()) ?? {};
  assert.ok(isJsonObject(data));
  return data['total_cost'];
}

function usageIn({ body, text }: Answer): JsonObject {
  const { usage } = body;
  assert.ok(isJsonObject(usage), text);
  return usage;
}

const give = (
  response: ServerResponse,
  data: readonly JsonObject[] = [{ b64_json: B64 }],
  more: JsonObject = {},
): void => sendJson(response, { data, ...more });

/** Its first chunk is none of a size. */
const headless = Buffer.concat([PNG.subarray(0, 12), Buffer.from('IHAT'), PNG.subarray(16)]).toString('base64');

describe('pictures that fail', () => {
  const SPENT: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    [
      'a page of HTML',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
    ],
    ['nothing', (response) => response.writeHead(200).end()],
    ['no picture', (response) => give(response, [])],
    ['half an answer', (response) => sendJson(response, `{"data":[{"b64_json":"${B64.slice(0, 200)}`)],
    ['broken base64', (response) => give(response, [{ b64_json: `${B64.slice(0, 100)}*${B64.slice(101)}` }])],
    ['base64 of no picture', (response) => give(response, [{ b64_json: Buffer.from('<html>').toString('base64') }])],
    ['a picture whose size cannot be read', (response) => give(response, [{ b64_json: headless }])],
    ['one broken picture of two', (response) => give(response, [{ b64_json: B64 }, { b64_json: 'AAAA' }])],
    ['a picture at an address that is not there', (response) => give(response, [{ url: `${fake.url}/gone.png` }])],
    ['a picture at a private address', (response) => give(response, [{ url: 'http://127.0.0.2:1/x.png' }])],
    [
      'a picture at the address of a metadata service',
      (response) => give(response, [{ url: 'https://169.254.169.254/x.png' }]),
    ],
    ['an error', (response) => sendJson(response, { error: { message: 'broken', code: 500 } })],
    [
      'a connection that breaks',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' });
        response.write('{"data":[', () => response.destroy());
      },
    ],
  ];
  test('are made by the next provider where one answers with a failure', async () => {
    fake.answer = ({ path }, response) =>
      path.startsWith('/one/') ? sendJson(response, { error: { message: 'no' } }, 500) : give(response);
    const answer = await paint();
    assert.equal(answer.status, 200, answer.text);
    assert.equal(fake.seen.length, 2);
    assert.equal(usageIn(answer)['cost'], 0.04);
  });

  for (const [name, answer] of SPENT)
    // @spec image-7
    test(`cost nothing, and are made by no other provider, where the answer is ${name}`, async () => {
      fake.answer = ({ path }, response) =>
        path === '/gone.png' ? void response.writeHead(404).end() : answer(response);
      const failed = await paint({ n: 2 });
      assert.ok(failed.status >= 500, failed.text);
      assert.equal(fake.seen.filter(({ method }) => method === 'POST').length, 1);
      assert.equal(failed.headers.get('x-should-retry'), 'false');
      assert.equal(await costOf(failed), 0);
      assert.doesNotMatch(failed.text, /html/);
    });

  // @spec image-8
  test('are refused as what they are, for nothing, in the words of each vendor', async () => {
    const refusals: readonly (readonly [string, JsonObject, number])[] = [
      ['a/draws', { error: { code: 'content_policy_violation', message: 'not that' } }, 400],
      ['a/draws', { error: { code: 'moderation_blocked', message: 'rejected by the safety system' } }, 400],
      ['xai/grok-imagine-image', { data: [{ url: null, respect_moderation: false }] }, 200],
      ['google/gemini-x', { promptFeedback: { blockReason: 'SAFETY' } }, 200],
      ['google/gemini-x', { candidates: [{ finishReason: 'IMAGE_SAFETY' }] }, 200],
    ];
    for (const [model, body, status] of refusals) {
      fake.answer = (_call, response) => sendJson(response, body, status);
      const answer = await paint({ model });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, /content_policy_violation/);
      assert.equal(fake.seen.length, 1);
      assert.equal(await costOf(answer), 0);
    }
  });

  // @spec image-9
  test('are not owed by a caller that hangs up, and the provider is hung up on', async () => {
    const closed = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    fake.answer = (_call, response) => {
      response.on('close', () => closed.resolve());
      arrived.resolve();
    };
    const spent = await spentSoFar();
    const over = new AbortController();
    const gone = gateway.post('/images', { model: 'a/draws', prompt: 'x' }, {}, over.signal);
    await arrived.promise;
    over.abort();
    await assert.rejects(gone);
    await closed.promise;
    assert.equal(await spentSoFar(), spent);
  });
});

async function spentSoFar(): Promise<unknown> {
  const response = await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${API_KEY}` } });
  const { data } = parseJsonObject(await response.text()) ?? {};
  assert.ok(isJsonObject(data));
  return data['usage'];
}

describe('pictures that the provider gives by their addresses', () => {
  // @spec image-3
  test('are fetched with the credential of the provider, and end with the caller that hangs up', async () => {
    const closed = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    fake.answer = ({ path }, response) => {
      if (path !== '/slow.png') return give(response, [{ url: `${fake.url}/slow.png` }]);
      response.on('close', () => closed.resolve());
      return arrived.resolve();
    };
    fake.seen.length = 0;
    const over = new AbortController();
    // Its failures before may have moved this provider behind the other one.
    const request = { model: 'a/draws', prompt: 'x', provider: { only: ['one'] } };
    const gone = gateway.post('/images', request, {}, over.signal);
    await arrived.promise;
    assert.equal(fake.seen.at(-1)?.headers['authorization'], 'Bearer k1');
    over.abort();
    await assert.rejects(gone);
    await closed.promise;
    const [record] = await recordsOf('a/draws');
    assert.partialDeepStrictEqual(record, { cancelled: true, total_cost: 0 });
  });
});

async function recordsOf(model: string): Promise<readonly unknown[]> {
  const response = await fetch(`${gateway.baseUrl}/generations?model=${encodeURIComponent(model)}&limit=1`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = parseJsonObject(await response.text()) ?? {};
  assert.ok(Array.isArray(data));
  return data;
}

describe('prices of pictures', () => {
  const PRICES: readonly (readonly [string, JsonObject, JsonObject, number | null])[] = [
    ['each picture that came', { n: 3 }, { data: [{ b64_json: B64 }, { b64_json: B64 }] }, 0.08],
    [
      'the most specific line, by the quality that was made',
      { model: 'a/lines', quality: 'auto' },
      { quality: 'high' },
      0.2,
    ],
    ['the line of its size', { model: 'a/lines', quality: 'low' }, {}, 0.01],
    ['an unknown price where no line is for it', { model: 'a/sized' }, {}, null],
    ['its pixels', { model: 'a/pixels' }, {}, 0.004096],
    ['its tokens', { model: 'a/tokens' }, { usage: { input_tokens: 10, output_tokens: 100 } }, 0.00405],
    [
      'an estimate of the tokens that the provider leaves out',
      { model: 'a/tokens' },
      { usage: { input_tokens: 10 } },
      0.16645,
    ],
    [
      'no more tokens of pictures than tokens of all',
      { model: 'a/lines-of-tokens' },
      { usage: { input_tokens: 2, output_tokens: 100, output_tokens_details: { image_tokens: 90_000_000 } } },
      0.001,
    ],
    ['tokens of an estimate where the provider counts none', { model: 'a/tokens' }, {}, 0.16641],
    [
      'an estimate where what it counts is beyond belief',
      { model: 'a/tokens' },
      { usage: { input_tokens: 2, output_tokens: 90_000_000 } },
      0.16641,
    ],
  ];
  for (const [name, request, answered, cost] of PRICES)
    // @spec image-6
    test(`are ${name}`, async () => {
      fake.answer = (_call, response) => give(response, undefined, answered);
      const answer = await paint(request);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(usageIn(answer)['cost'], cost);
      assert.equal(await costOf(answer), cost);
    });

  async function limited(limit: number): Promise<string> {
    const response = await fetch(`${gateway.baseUrl}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'limited', limit }),
    });
    const { key } = parseJsonObject(await response.text()) ?? {};
    return textIn(key);
  }

  test('are reserved before: dearest line, or hold_usd for each where tokens are not known', async () => {
    fake.answer = (_call, response) => give(response);
    const key = await limited(0.9);
    const requestBy = (body: JsonObject) =>
      gateway.post('/images', { prompt: 'x', ...body }, { authorization: `Bearer ${key}` }).then(async (response) => {
        await response.text();
        return response.status;
      });
    // 5 x 0.2, 2 x 0.5.
    assert.equal(await requestBy({ model: 'a/lines', n: 5 }), 402);
    assert.equal(await requestBy({ model: 'a/tokens', n: 2 }), 402);
    assert.equal(await requestBy({ model: 'a/tokens' }), 200);
    assert.equal(await requestBy({ model: 'a/lines', n: 3 }), 200);
  });
});

describe('requests for pictures that are wrong', () => {
  const small = encodePng({ width: 4, height: 4 }, () => [0, 0, 0, 255], []).toString('base64');
  const url = (text: string): JsonObject => ({ input_references: [{ type: 'image_url', image_url: { url: text } }] });
  const REF = 'input_references[0].image_url.url';
  const png = Buffer.from(PNG);
  png.writeUInt32BE(60_000, 16);
  png.writeUInt32BE(60_000, 20);
  const WRONG: readonly (readonly [string, JsonObject, string])[] = [
    ['prompt', { prompt: ' ' }, 'prompt'],
    ['n', { n: 0 }, 'n'],
    ['size', { size: '8x8' }, 'size'],
    ['tier beside a size', { size: '64x64', resolution: '4K' }, 'resolution'],
    ['ratio beside a size', { size: '64x64', aspect_ratio: '16:9' }, 'aspect_ratio'],
    ['tier beside a tier', { size: '1K', resolution: '2K' }, 'resolution'],
    ['ratio', { aspect_ratio: '1:0' }, 'aspect_ratio'],
    ['compression of png', { output_compression: 50, output_format: 'png' }, 'output_compression'],
    ['transparent jpeg', { background: 'transparent', output_format: 'jpeg' }, 'background'],
    ['preview too many', { stream: true, partial_images: 4 }, 'partial_images'],
    ['fallback', { models: ['a/sized'] }, 'models'],
    ['preset', { preset: 'x' }, 'preset'],
    ['markup', { images: [`data:image/png;base64,${B64}`], markup: { url: `data:image/png;base64,${B64}` } }, 'markup'],
    ['address', url('ftp://x/y.png'), REF],
    ['address of the gateway', url('http://127.0.0.1:1/y.png'), REF],
    ['private address', url('https://10.0.0.1/y.png'), REF],
    ['private address in IPv6', url('https://[::ffff:10.0.0.1]/y.png'), REF],
    ['base64', url('data:image/png;base64,%%%'), REF],
    ['text for a picture', url(`data:image/png;base64,${Buffer.from('hello').toString('base64')}`), REF],
    ['drawing', url(`data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`), REF],
    ['picture too small', url(`data:image/png;base64,${small}`), REF],
    ['picture too large', url(`data:image/png;base64,${png.toString('base64')}`), REF],
    ['mask without a picture', { mask: `data:image/png;base64,${B64}` }, 'mask'],
    [
      'mask without alpha',
      {
        ...url(`data:image/png;base64,${B64}`),
        mask: `data:image/gif;base64,${Buffer.from('GIF89a@\0@\0    ', 'latin1').toString('base64')}`,
      },
      'mask',
    ],
    ['file of another vendor', { images: [{ file_id: 'file-1' }] }, 'images[0].file_id'],
    ['17 pictures', { images: Array.from({ length: 17 }, () => `data:image/png;base64,${B64}`) }, 'images'],
  ];
  for (const [name, request, path] of WRONG)
    // @spec image-4
    test(`are 400 with its path for a wrong ${name}`, async () => {
      fake.answer = (_call, response) => give(response);
      const answer = await paint(request);
      assert.equal(answer.status, 400, answer.text);
      const { error } = answer.body;
      assert.ok(isJsonObject(error));
      assert.equal(error['param'], path, answer.text);
      assert.equal(fake.seen.length, 0);
    });

  test('are 400 for an edit without a picture, and for a form where there is to be none', async () => {
    const edit = await paint({}, '/images/edits');
    assert.equal(edit.status, 400, edit.text);
    const form = new FormData();
    form.append('prompt', 'x');
    const sent = await fetch(`${gateway.baseUrl}/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: form,
    });
    assert.equal(sent.status, 400);
  });

  // @spec image-4
  test('are 400 for a form with markup, which is not built', async () => {
    const form = new FormData();
    for (const field of ['image', 'markup']) form.append(field, new Blob([Uint8Array.from(PNG)]), 'a.png');
    for (const [name, value] of Object.entries({ model: 'a/draws', prompt: 'x' })) form.append(name, value);
    const sent = await fetch(`${gateway.baseUrl}/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: form,
    });
    const text = await sent.text();
    assert.equal(sent.status, 400);
    assert.match(text, /"param":"markup"/);
    assert.match(text, /not built/);
  });

  // @spec image-6
  test('charge no more pixels than a header can mean', async () => {
    const lying = Buffer.from(PNG);
    lying.writeUInt32BE(0xff_ff_ff_ff, 16);
    lying.writeUInt32BE(0xff_ff_ff_ff, 20);
    fake.answer = (_call, response) => sendJson(response, { data: [{ b64_json: lying.toString('base64') }] });
    const answer = await paint({ model: 'a/pixels', size: '1000x1000' });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await costOf(answer), 1);
  });
});
