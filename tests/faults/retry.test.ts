import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { API_KEY, startGateway } from '../support/gateway.ts';
import { startTwoProviders, type TwoProviders } from '../support/two-providers.ts';
import {
  chatAnswer,
  chatChunk,
  chatStream,
  json,
  sse,
  startUpstream,
  stream,
  type Script,
} from '../support/upstream.ts';

const body = { model: 'acme/both', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };
const ONCE = 'retry: { same_endpoint: 1, wait_max_ms: 3000 }';
const ON = { 'x-service-metadata': 'enabled' };

/** The first answers, one after the other, and then the last for ever. */
function inTurn(...scripts: readonly Script[]): Script {
  let at = 0;
  return (arrived, response, request) => scripts[Math.min(at++, scripts.length - 1)]?.(arrived, response, request);
}

const good: Script = (arrived, response, request) =>
  (arrived.body['stream'] === true ? stream(chatStream('well')) : json(200, chatAnswer('well')))(
    arrived,
    response,
    request,
  );

function arrivedAt({ first, second }: TwoProviders): readonly number[] {
  return [first.arrived.length, second.arrived.length];
}

suite('retry.same_endpoint', { concurrency: true }, () => {
  for (const [path, isStream] of [
    ['/chat/completions', false],
    ['/chat/completions', true],
    ['/messages', true],
  ] as const) {
    test(`tries the same provider again after a 500, ${path}, stream ${isStream}`, async (t) => {
      const two = await startTwoProviders(t, { first: inTurn(json(500, {}), good), second: good, more: ONCE });
      const response = await two.gateway.post(path, { ...body, stream: isStream });
      assert.equal(response.status, 200);
      assert.match(await response.text(), /well/);
      assert.deepEqual(arrivedAt(two), [2, 0]);
    });

    test(`waits for Retry-After within the limit, ${path}, stream ${isStream}`, async (t) => {
      const limited = json(429, {}, { 'retry-after': '2' });
      const two = await startTwoProviders(t, { first: inTurn(limited, good), second: good, more: ONCE });
      const startedMs = performance.now();
      const response = await two.gateway.post(path, { ...body, stream: isStream });
      assert.match(await response.text(), /well/);
      assert.ok(performance.now() - startedMs >= 2_000);
      assert.deepEqual(arrivedAt(two), [2, 0]);
    });
  }

  test('leaves a provider that names a longer wait at once', async (t) => {
    const two = await startTwoProviders(t, {
      first: json(429, {}, { 'retry-after': '60' }),
      second: good,
      more: ONCE,
    });
    const startedMs = performance.now();
    assert.equal((await two.gateway.post('/chat/completions', body)).status, 200);
    assert.ok(performance.now() - startedMs < 30_000);
    assert.deepEqual(arrivedAt(two), [1, 1]);
  });

  // @spec generation-2
  test('moves to the next provider after its tries, and records each', async (t) => {
    const two = await startTwoProviders(t, { first: json(503, {}), second: good, more: ONCE });
    const response = await two.gateway.post('/chat/completions', body, ON);
    const { id, service_metadata: metadata } = (await response.json()) as {
      id: string;
      service_metadata: { attempts: readonly { provider: string; status: number }[] };
    };
    const attempts = [
      ['First', 503],
      ['First', 503],
      ['Second', 200],
    ];
    assert.deepEqual(
      metadata.attempts.map(({ provider, status }) => [provider, status]),
      attempts,
    );
    assert.deepEqual(arrivedAt(two), [2, 1]);
    const stored = await fetch(`${two.gateway.baseUrl}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { data } = (await stored.json()) as {
      data: { provider_responses: readonly { provider_name: string; status: number }[] };
    };
    assert.deepEqual(
      data.provider_responses.map(({ provider_name, status }) => [provider_name, status]),
      attempts,
    );
  });

  test('is off by default while another provider is left', async (t) => {
    const two = await startTwoProviders(t, { first: inTurn(json(500, {}), good), second: good });
    assert.equal((await two.gateway.post('/chat/completions', body)).status, 200);
    assert.deepEqual(arrivedAt(two), [1, 1]);
  });

  // @spec fallback-2
  test('never follows content: a stream that breaks off is not restarted', async (t) => {
    const half = stream(sse([chatChunk({ role: 'assistant', content: 'half' })]));
    const two = await startTwoProviders(t, { first: half, second: good, more: ONCE });
    const text = await (await two.gateway.post('/chat/completions', { ...body, stream: true })).text();
    assert.match(text, /half/);
    assert.deepEqual(arrivedAt(two), [1, 0]);
  });

  // @spec fallback-8
  test('stops waiting when the caller hangs up', async (t) => {
    const arrived = Promise.withResolvers<void>();
    const limited = json(429, {}, { 'retry-after': '2' });
    const two = await startTwoProviders(t, {
      first: (...call) => {
        arrived.resolve();
        return limited(...call);
      },
      second: good,
      more: ONCE,
    });
    const caller = new AbortController();
    const answer = two.gateway.post('/chat/completions', body, {}, caller.signal);
    await arrived.promise;
    setTimeout(() => caller.abort(), 300);
    await assert.rejects(answer);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assert.deepEqual(arrivedAt(two), [1, 0]);
  });

  test('can be set for one provider', async (t) => {
    const first = await startUpstream(inTurn(json(500, {}), good));
    const second = await startUpstream(good);
    const gateway = await startGateway({
      yaml: `
providers:
  first: { adapter: openai-compatible, base_url: "${first.baseUrl}", api_key: k, retry: { same_endpoint: 2 } }
  second: { adapter: openai-compatible, base_url: "${second.baseUrl}", api_key: k }
models:
  acme/both: { endpoints: [{ provider: first, model: one }, { provider: second, model: one }] }
`,
    });
    t.after(async () => {
      await gateway.close();
      await first.close();
      await second.close();
    });
    assert.equal((await gateway.post('/chat/completions', body)).status, 200);
    assert.deepEqual([first.arrived.length, second.arrived.length], [2, 0]);
    first.script = json(200, chatAnswer('x'));
    second.script = inTurn(json(500, {}), good);
    const onSecond = { ...body, provider: { order: ['second', 'first'] } };
    assert.equal((await gateway.post('/chat/completions', onSecond)).status, 200);
    assert.deepEqual([first.arrived.length, second.arrived.length], [3, 1]);
  });
});
