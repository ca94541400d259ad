import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { encodePng } from '../../src/sandbox/png.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { RawUpstream, sendJson } from '../support/upstreams/raw-upstream.ts';

const B64 = encodePng({ width: 64, height: 64 }, () => [1, 2, 3, 255], []).toString('base64');

const fake = new RawUpstream();
let gateway: RunningGateway;
before(async () => {
  await fake.start();
  gateway = await startGateway({
    yaml: `
providers:
  one: { adapter: openai-compatible, base_url: ${fake.url}/one/v1, api_key: k1 }
models:
  a/draws:
    output_modalities: [image]
    endpoints: [{ provider: one, model: m, price: { prompt: 0, completion: 0, images: [{ billable: output_image, unit: image, cost_usd: 0.04 }] } }]
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

async function paint(more: JsonObject = {}): Promise<Answer> {
  fake.seen.length = 0;
  const response = await gateway.post('/images', { model: 'a/draws', prompt: 'a cat', ...more });
  const text = await response.text();
  return { status: response.status, text, body: parseJsonObject(text) ?? {}, headers: response.headers };
}

async function recordOf({ headers }: Pick<Answer, 'headers'>): Promise<JsonObject> {
  const response = await fetch(`${gateway.baseUrl}/generation?id=${headers.get('x-generation-id') ?? ''}`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const { data } = parseJsonObject(await response.text()) ?? {};
  assert.ok(isJsonObject(data));
  return data;
}

const costOf = async (answer: Answer): Promise<unknown> => (await recordOf(answer))['total_cost'];

async function spentSoFar(): Promise<unknown> {
  const response = await fetch(`${gateway.baseUrl}/key`, { headers: { authorization: `Bearer ${API_KEY}` } });
  const { data } = parseJsonObject(await response.text()) ?? {};
  assert.ok(isJsonObject(data));
  return data['usage'];
}

const give = (response: ServerResponse): void => sendJson(response, { data: [{ b64_json: B64 }] });

const frame = (type: string, more: JsonObject): string => `data: ${JSON.stringify({ type, ...more })}\n\n`;
const partial = (index: number): string =>
  frame('image_generation.partial_image', { partial_image_index: index, b64_json: B64 });
const completed = (more: JsonObject = {}): string => frame('image_generation.completed', { b64_json: B64, ...more });

function eventsIn(text: string): readonly JsonObject[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('data: {'))
    .map((block) => parseJsonObject(block.slice(block.indexOf('data: ') + 6)) ?? {});
}

describe('streams of pictures', () => {
  const stream =
    (...frames: readonly string[]): typeof fake.answer =>
    (_call, response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''));

  // @spec image-10
  test('pass previews on, as many as come, and the usage with the last', async () => {
    fake.answer = stream(partial(0), ': ping\n\n', partial(1), partial(2), completed(), 'data: [DONE]\n\n');
    const answer = await paint({ stream: true, partial_images: 3 });
    assert.partialDeepStrictEqual(fake.seen[0]?.body, { stream: true, partial_images: 3 });
    const events = eventsIn(answer.text);
    assert.deepEqual(
      events.map(({ type, partial_image_index: index }) => [type, index]),
      [
        ['image_generation.partial_image', 0],
        ['image_generation.partial_image', 1],
        ['image_generation.partial_image', 2],
        ['image_generation.completed', undefined],
      ],
    );
    assert.ok(events.every((event) => event['b64_json'] === B64));
    assert.partialDeepStrictEqual(events.at(-1), { media_type: 'image/png', usage: { cost: 0.04 } });
    assert.ok(answer.text.endsWith('data: [DONE]\n\n'));
    assert.equal(await costOf(answer), 0.04);
  });

  test('are requested where the caller requests them alone', async () => {
    fake.answer = (_call, response) => give(response);
    await paint({ n: 2 });
    assert.equal(fake.seen[0]?.body['stream'], undefined);
  });

  test('are no failure where their events say that there is no error', async () => {
    fake.answer = stream(
      frame('image_generation.partial_image', { partial_image_index: 0, b64_json: B64, error: null }),
      completed({ error: null }),
    );
    const answer = await paint({ stream: true });
    assert.equal(eventsIn(answer.text).at(-1)?.['type'], 'image_generation.completed', answer.text);
    assert.equal(await costOf(answer), 0.04);
  });

  test('end with the words of an error that stands in no object of its own', async () => {
    fake.answer = stream(partial(0), frame('error', { code: 'rate_limit_exceeded', message: 'slow down' }));
    const answer = await paint({ stream: true });
    assert.partialDeepStrictEqual(eventsIn(answer.text).at(-1), { error: { code: 429 } });
  });

  test('have a warning where fewer pictures come than are wanted, as whole answers have', async () => {
    const warnings: unknown[] = [];
    for (const answer of [stream(completed()), ((_call, response) => give(response)) satisfies typeof fake.answer]) {
      fake.answer = answer;
      warnings.push((await recordOf(await paint({ stream: true, n: 2 })))['warnings']);
    }
    assert.deepEqual(warnings[0], warnings[1]);
    assert.match(JSON.stringify(warnings[0]), /made 1 of 2 pictures/);
  });

  const BROKEN: readonly (readonly [string, (response: ServerResponse) => void, number])[] = [
    ['ends without a picture', (response) => stream(partial(0))({} as never, response, 1), 200],
    ['ends before anything came', (response) => stream('data: [DONE]\n\n')({} as never, response, 1), 502],
    [
      'breaks within a picture',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(partial(0) + completed().slice(0, 300), () => setTimeout(() => response.destroy(), 20));
      },
      200,
    ],
    [
      'holds an error',
      (response) => stream(partial(0), frame('error', { error: { message: 'no' } }))({} as never, response, 1),
      200,
    ],
    [
      'begins with an error',
      (response) =>
        stream(frame('error', { error: { message: 'no', code: 'server_error' } }))({} as never, response, 1),
      502,
    ],
    [
      'holds what is no picture',
      (response) =>
        stream(partial(0), frame('image_generation.completed', { b64_json: 'AAAA' }))({} as never, response, 1),
      200,
    ],
  ];
  for (const [name, answer, status] of BROKEN)
    test(`end with an error, and cost nothing, where the stream of the provider ${name}`, async () => {
      fake.answer = (_call, response) => answer(response);
      const broken = await paint({ stream: true });
      assert.equal(broken.status, status, broken.text);
      if (status === 200) assert.equal(eventsIn(broken.text).at(-1)?.['type'], 'error', broken.text);
      assert.ok(!broken.text.includes('completed'), broken.text);
      assert.equal(fake.seen.length, 1);
      assert.equal(await costOf(broken), 0);
    });

  test('are whole answers where the provider takes no notice', async () => {
    fake.answer = (_call, response) => give(response);
    const answer = await paint({ stream: true });
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(await costOf(answer), 0.04);
    fake.answer = (_call, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    const html = await paint({ stream: true });
    assert.equal(html.status, 502, html.text);
  });

  test('are not owed by a caller that has previews alone, and hangs up', async () => {
    const closed = Promise.withResolvers<void>();
    fake.answer = (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(partial(0));
      response.on('close', () => closed.resolve());
    };
    const spent = await spentSoFar();
    const over = new AbortController();
    const response = await gateway.post('/images', { model: 'a/draws', prompt: 'x', stream: true }, {}, over.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    over.abort();
    await closed.promise;
    assert.equal(await spentSoFar(), spent);
  });
});
