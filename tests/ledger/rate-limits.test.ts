import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import OpenAI, { RateLimitError } from 'openai';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { exchangeRaw, requestHead, type RawAnswer } from '../support/http/raw-http.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const REQUEST = { model: 'acme/one', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hi' }] };

/** Calls until the status comes, a second at most. */
async function untilStatus<Answer extends { readonly status: number }>(
  call: () => Promise<Answer>,
  status: number,
): Promise<Answer> {
  for (let round = 0; ; round++) {
    const answer = await call();
    if (answer.status === status || round === 50) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

suite('rate limits', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok')));
    gateway = await startGateway({
      yaml: `
defaults: { model: 'acme/one:free' }
rate_limits:
  key: { requests_per_minute: 3, concurrent: 2 }
  free: { requests_per_day: 1 }
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 0 } }]
  acme/one:free:
    endpoints: [{ provider: alpha, model: free, price: { prompt: 0, completion: 0 } }]
`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function newKey(): Promise<string> {
    const response = await fetch(`${gateway.baseUrl}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'fast' }),
    });
    return ((await response.json()) as { key: string }).key;
  }

  // @spec rate-2
  test('refuse one request too many with 429 and headers, which successes do not carry', async () => {
    const headers = { authorization: `Bearer ${await newKey()}` };
    for (let round = 0; round < 3; round++) {
      const response = await gateway.post('/chat/completions', REQUEST, headers);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('x-ratelimit-limit'), null);
    }
    const arrived = upstream.arrived.length;
    const sentAtMs = Date.now();
    const response = await gateway.post('/chat/completions', REQUEST, headers);
    assert.equal(response.status, 429);
    assert.equal(upstream.arrived.length, arrived);
    const header = (name: string): number => Number(response.headers.get(name));
    assert.deepEqual([header('x-ratelimit-limit'), header('x-ratelimit-remaining')], [3, 0]);
    const [resetMs, retryAfterS] = [header('x-ratelimit-reset') - sentAtMs, header('retry-after')];
    assert.ok(resetMs > 0 && resetMs <= 61_000, `${resetMs}`);
    assert.ok(retryAfterS >= 1 && retryAfterS <= 60, `${retryAfterS}`);
    const { error } = (await response.json()) as { error: { metadata: { error_type: string } } };
    assert.equal(error.metadata.error_type, 'rate_limit_exceeded');
    const messages = await gateway.post('/messages', REQUEST, headers);
    const body = (await messages.json()) as { type: string; error: { type: string } };
    assert.deepEqual([messages.status, body.type, body.error.type], [429, 'error', 'rate_limit_error']);
  });

  test("raise the official client's own error class", async () => {
    const client = new OpenAI({ apiKey: await newKey(), baseURL: gateway.baseUrl, maxRetries: 0 });
    for (let round = 0; round < 3; round++) await client.chat.completions.create(REQUEST);
    await assert.rejects(client.chat.completions.create(REQUEST), RateLimitError);
  });

  // @spec auth-18, rate-3
  test('take a permit before the body is read', async () => {
    const key = await newKey();
    const head = requestHead('POST /v1/chat/completions', `Authorization: Bearer ${key}`, 'Content-Length: 4000');
    const open = [0, 1].map(() => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      socket.write(`${head}{`);
      return socket;
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const refused: RawAnswer = await exchangeRaw({
      url: gateway.url,
      closes: true,
      send: (socket) => void socket.write(`${head}{`),
    });
    assert.equal(refused.status, 429);
    assert.match(refused.head, /\r\nretry-after: \d/i);
    for (const socket of open) socket.destroy();
    const free = (): Promise<Response> =>
      gateway.post('/chat/completions', REQUEST, { authorization: `Bearer ${key}` });
    assert.equal((await untilStatus(free, 200)).status, 200);
  });

  // @spec rate-3
  test('limit concurrent requests of a key, including streams, until one ends', async () => {
    const headers = { authorization: `Bearer ${await newKey()}` };
    const released = Promise.withResolvers<void>();
    const answer = json(200, chatAnswer('ok'));
    upstream.script = async (...all) => {
      await released.promise;
      await answer(...all);
    };
    const earlier = upstream.arrived.length;
    const open = [0, 1].map(() => gateway.post('/chat/completions', REQUEST, headers));
    while (upstream.arrived.length < earlier + 2)
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    const refused = await gateway.post('/chat/completions', REQUEST, headers);
    assert.equal(refused.status, 429);
    released.resolve();
    assert.deepEqual(await Promise.all(open.map(async (one) => (await one).status)), [200, 200]);
    assert.equal((await gateway.post('/chat/completions', REQUEST, headers)).status, 200);
    upstream.script = answer;
  });

  // @spec rate-6
  test('count free models apart, whatever their name and as the default', async () => {
    const answers = async (model: string | undefined): Promise<number> =>
      (await gateway.post('/chat/completions', { ...REQUEST, model }, { authorization: `Bearer ${API_KEY}` })).status;
    assert.equal(await answers('acme/one:free:floor'), 200);
    for (const model of ['acme/one:free', 'acme/one:free:nitro', undefined]) assert.equal(await answers(model), 429);
    assert.equal(await answers('acme/one'), 200);
  });
});
