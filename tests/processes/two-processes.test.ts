import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { redis, useRedis } from '../support/services/redis.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Far below the time after which a key is read again anyway. */
const AT_ONCE_MS = 2_000;

interface Pair {
  /** Addresses of two gateways, each a process of its own. */
  readonly urls: readonly [string, string];
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
}

/** @param env of both gateways, besides the Redis that they share */
async function startPair(t: TestContext, env: Readonly<Record<string, string>> = {}, firstPrice = 1): Promise<Pair> {
  const first = await startUpstream(json(200, chatAnswer('from the first')));
  const second = await startUpstream(json(200, chatAnswer('from the second')));
  t.after(() => Promise.all([first.close(), second.close()]));
  const config = join(makeFolder(t), 'gateway.yaml');
  writeFileSync(
    config,
    `
providers:
  first: { adapter: openai-compatible, name: First, base_url: "${first.baseUrl}", api_key: k }
  second: { adapter: openai-compatible, name: Second, base_url: "${second.baseUrl}", api_key: k }
models:
  acme/both:
    endpoints:
      - { provider: first, model: one, price: { prompt: ${firstPrice}, completion: ${firstPrice}, cache_read: ${firstPrice / 10} } }
      - { provider: second, model: one, price: { prompt: 1, completion: 1, cache_read: 0.1 } }
`,
  );
  const { url, prefix } = useRedis(t);
  const options = {
    args: ['--config', config],
    env: {
      REDIS_URL: url,
      REDIS_PREFIX: prefix.slice(1, -2),
      GATEWAY_API_KEY: API_KEY,
      GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
      GATEWAY_LOG_LEVEL: 'error',
      ...env,
    },
  };
  const [one, other] = await Promise.all([startGateway(t, options), startGateway(t, options)]);
  return { urls: [one.url, other.url], first, second };
}

function send(url: string, path: string, body: unknown, key = API_KEY, method = 'POST'): Promise<Response> {
  return fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function ask(url: string, more: object = {}, key?: string): Promise<Response> {
  return send(
    url,
    '/chat/completions',
    { model: 'acme/both', messages: [{ role: 'user', content: 'Hi' }], ...more },
    key,
  );
}

async function providerOf(answer: Response): Promise<unknown> {
  assert.equal(answer.status, 200);
  const body: unknown = await answer.json();
  return typeof body === 'object' && body !== null && 'provider' in body ? body.provider : undefined;
}

suite('two gateways on one Redis', { skip: redis === undefined }, () => {
  // @spec route-39
  test('keep a session at its endpoint, whichever gateway it reaches', async (t) => {
    const { urls } = await startPair(t);
    const sessions = Array.from({ length: 12 }, (_, index) => `session-${index}`);
    const serve = async (url: string): Promise<readonly unknown[]> => {
      const providers: unknown[] = [];
      for (const session_id of sessions) providers.push(await providerOf(await ask(url, { session_id })));
      return providers;
    };
    const begun = await serve(urls[0]);
    assert.equal(new Set(begun).size, 2, 'both endpoints serve');
    const gone = await serve(urls[1]);
    // A look-up that a busy machine answers late is done without.
    const stayed = gone.filter((provider, at) => provider === begun[at]).length;
    assert.ok(stayed >= sessions.length - 2, `${stayed} of ${sessions.length} stayed`);
  });

  test('share the health of an endpoint', async (t) => {
    // So much cheaper that it comes first.
    const { urls, first } = await startPair(t, {}, 0.001);
    // None fails before all have arrived: a later request would skip the endpoint that has failed.
    const together = Promise.withResolvers<void>();
    const fail = json(500, { error: { message: 'broken' } });
    first.script = async (...call) => {
      if (first.arrived.length >= 4) together.resolve();
      await together.promise;
      await fail(...call);
    };
    await Promise.all(
      Array.from({ length: 4 }, async () => assert.equal(await providerOf(await ask(urls[0])), 'Second')),
    );
    assert.equal(first.arrived.length, 4, 'its circuit is open');
    await wait(1_000);
    const before = first.arrived.length;
    for (let count = 0; count < 5; count++) assert.equal(await providerOf(await ask(urls[1])), 'Second');
    assert.equal(first.arrived.length, before);
  });

  for (const { makePlace } of POSTGRES_ENGINES)
    test('share the disabling of a key at once', async (t) => {
      const place = await makePlace();
      t.after(() => place.remove());
      const { urls } = await startPair(t, { DATABASE_URL: place.url ?? '' });
      const created = await send(urls[0], '/keys', { name: 'app' }, MANAGEMENT_KEY);
      assert.equal(created.status, 201);
      const { key, data } = (await created.json()) as {
        readonly key: string;
        readonly data: { readonly hash: string };
      };
      assert.equal((await ask(urls[1], {}, key)).status, 200);
      const disabled = await send(urls[0], `/keys/${data.hash}`, { disabled: true }, MANAGEMENT_KEY, 'PATCH');
      assert.equal(disabled.status, 200);
      const disabledMs = performance.now();
      for (;;) {
        const { status } = await ask(urls[1], {}, key);
        if (status === 401) break;
        assert.equal(status, 200);
        assert.ok(performance.now() - disabledMs < AT_ONCE_MS, 'the other gateway has not heard of it');
      }
    });
});
