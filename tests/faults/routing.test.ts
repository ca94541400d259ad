import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { manage } from '../support/byok.ts';
import { startTwoProviders, type TwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatChunk, json, sse, stream, type Script } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];
const ON = { 'x-service-metadata': 'enabled' };

/** The first answers, one after the other, and then the last for ever. */
function inTurn(...scripts: readonly Script[]): Script {
  let at = 0;
  return (arrived, response, request) => scripts[Math.min(at++, scripts.length - 1)]?.(arrived, response, request);
}

const good = json(200, chatAnswer('well'));

interface Metadata {
  readonly attempt: number;
  readonly strategy: string;
  readonly summary: string;
  readonly pipeline?: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
}

async function metadataOf(response: Response): Promise<Metadata> {
  const { service_metadata: metadata } = (await response.json()) as { service_metadata?: Metadata };
  assert.ok(metadata);
  return metadata;
}

suite('a model with one endpoint', () => {
  const passing: Readonly<Record<string, Script>> = {
    'a 500': json(500, {}),
    'a 503': json(503, {}),
    'a broken connection': (_arrived, response) => void response.socket?.destroy(),
    'a short Retry-After': json(429, {}, { 'retry-after-ms': '200' }),
  };
  for (const [name, script] of Object.entries(passing))
    for (const path of ['/chat/completions', '/messages'])
      // @spec fallback-6
      test(`gets one more try after ${name}, ${path}`, async (t) => {
        const { gateway, first } = await startTwoProviders(t, { first: inTurn(script, good) });
        const startedMs = performance.now();
        const response = await gateway.post(path, { model: 'acme/first', max_tokens: 9, messages }, ON);
        assert.equal(response.status, 200);
        assert.equal((await metadataOf(response)).attempt, 2);
        assert.equal(first.arrived.length, 2);
        assert.ok(performance.now() - startedMs >= (name.startsWith('a short') ? 200 : 100), 'not at once');
      });

  const lasting: Readonly<Record<string, Script>> = {
    'a 400': json(400, { error: { message: 'bad' } }),
    'refused credentials': json(401, {}),
    'a limit without a time': json(429, {}),
    'a long Retry-After': json(429, {}, { 'retry-after': '20' }),
    'an upstream that timed out itself': json(504, {}),
  };
  for (const [name, script] of Object.entries(lasting))
    test(`gets no retry after ${name}`, async (t) => {
      const { gateway, first } = await startTwoProviders(t, { first: inTurn(script, good) });
      const response = await gateway.post('/chat/completions', { model: 'acme/first', messages });
      assert.notEqual(response.status, 200);
      assert.equal(first.arrived.length, 1);
    });

  test('gets no retry after silence', async (t) => {
    const { gateway, first } = await startTwoProviders(t, {
      first: inTurn(() => undefined, good),
      timeouts: '{ whole_ms: 200 }',
    });
    assert.equal((await gateway.post('/chat/completions', { model: 'acme/first', messages })).status, 524);
    assert.equal(first.arrived.length, 1);
  });

  test('gets no retry without fallbacks', async (t) => {
    const { gateway, first } = await startTwoProviders(t, { first: inTurn(json(500, {}), good) });
    const provider = { allow_fallbacks: false };
    assert.equal((await gateway.post('/chat/completions', { model: 'acme/first', messages, provider })).status, 502);
    assert.equal(first.arrived.length, 1);
  });

  test('fails within the time of the request', async (t) => {
    const { gateway } = await startTwoProviders(t, {
      first: json(429, {}, { 'retry-after': '2' }),
      timeouts: '{ total_ms: 300 }',
    });
    const startedMs = performance.now();
    const response = await gateway.post('/chat/completions', { model: 'acme/first', messages });
    assert.ok(response.status === 429 || response.status === 408, `${response.status}`);
    assert.ok(performance.now() - startedMs < 1_900, 'no wait of 2 s');
  });
});

suite('an endpoint that fails', () => {
  test('is skipped by the next request, and not hammered', async (t) => {
    const { gateway, first, second } = await startTwoProviders(t, { first: json(500, {}), second: good });
    for (let request = 0; request < 10; request++)
      assert.equal((await gateway.post('/chat/completions', { model: 'acme/both', messages })).status, 200);
    assert.equal(first.arrived.length, 1);
    assert.equal(second.arrived.length, 10);
  });

  test('is skipped when its responses break off after they began', async (t) => {
    const broken = stream(sse([chatChunk({ role: 'assistant', content: 'half' })]));
    const { gateway, first, second } = await startTwoProviders(t, {
      first: broken,
      second: stream(sse([chatChunk({ content: 'x' }, 'stop'), '[DONE]'])),
    });
    const body = { model: 'acme/both', messages, stream: true };
    await (await gateway.post('/chat/completions', body)).text();
    await (await gateway.post('/chat/completions', body)).text();
    assert.deepEqual([first.arrived.length, second.arrived.length], [1, 1]);
  });

  test('serves one request at a time while it is the only one, and all once it works', async (t) => {
    let isUp = false;
    let [open, openMax] = [0, 0];
    const { gateway } = await startTwoProviders(t, {
      async first(arrived, response, request) {
        openMax = Math.max(openMax, ++open);
        await new Promise((resolve) => setTimeout(resolve, 30));
        open--;
        await (isUp ? good : json(500, {}))(arrived, response, request);
      },
    });
    const ask = (): Promise<Response> => gateway.post('/chat/completions', { model: 'acme/first', messages });
    for (let request = 0; request < 3; request++) assert.equal((await ask()).status, 502);
    openMax = 0;
    isUp = true;
    const statuses = (await Promise.all(Array.from({ length: 8 }, ask))).map(({ status }) => status);
    assert.deepEqual(
      statuses,
      Array.from({ length: 8 }, () => 200),
    );
    assert.ok(openMax >= 1);
  });
});

suite('fallback models', () => {
  const refusals: Readonly<Record<string, Script>> = {
    'a policy': json(400, { error: { message: 'blocked by our content policy', code: 'content_policy_violation' } }),
    'an empty answer': json(
      200,
      chatAnswer('', {
        choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'content_filter' }],
      }),
    ),
  };
  for (const [name, script] of Object.entries(refusals))
    // @spec fallback-4
    test(`serve what the first refused with ${name}, and no other does`, async (t) => {
      const { gateway, first, second } = await startTwoProviders(t, { first: script, second: good });
      const alone = await gateway.post('/chat/completions', { model: 'acme/both', messages });
      assert.equal(second.arrived.length, 0);
      if (name === 'an empty answer') assert.match(await alone.text(), /"finish_reason":"content_filter"/);
      else assert.equal(alone.status, 400);
      const response = await gateway.post(
        '/chat/completions',
        { model: 'acme/first', models: ['acme/second'], messages },
        ON,
      );
      assert.equal(response.status, 200);
      assert.equal((await metadataOf(response)).strategy, 'fallback');
      assert.deepEqual([first.arrived.length, second.arrived.length], [2, 1]);
    });

  // @spec fallback-5
  test('serve after a streamed refusal without text, too', async (t) => {
    const { gateway } = await startTwoProviders(t, {
      first: stream(sse([chatChunk({ role: 'assistant', content: '' }), chatChunk({}, 'content_filter'), '[DONE]'])),
      second: stream(sse([chatChunk({ role: 'assistant', content: 'yes' }), chatChunk({}, 'stop'), '[DONE]'])),
    });
    const ask = async (models: readonly string[]): Promise<string> =>
      (await gateway.post('/chat/completions', { models, messages, stream: true })).text();
    assert.match(await ask(['acme/first', 'acme/second']), /yes/);
    assert.match(await ask(['acme/first']), /"finish_reason":"content_filter"/);
  });

  // @spec model-7
  test('serve when the first model does not exist, as a fallback', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: good });
    const response = await gateway.post('/chat/completions', { models: ['acme/nope', 'acme/first'], messages }, ON);
    assert.equal((await metadataOf(response)).strategy, 'fallback');
  });
});

suite('sessions', () => {
  /** Both answer; the third draw of chance would take the second provider. */
  async function start(t: TestContext): Promise<TwoProviders & { readonly chance: { next: number } }> {
    const chance = { next: 0 };
    const two = await startTwoProviders(t, { first: good, second: good, random: () => chance.next });
    return { ...two, chance };
  }
  const ask = async (
    { gateway }: TwoProviders,
    more: object,
    headers: Record<string, string> = {},
  ): Promise<string> => {
    const response = await gateway.post('/chat/completions', { model: 'acme/both', messages, ...more }, headers);
    return ((await response.json()) as { provider: string }).provider;
  };

  for (const [name, more, headers] of [
    ['session_id', { session_id: 's' }, {}],
    ['the header', {}, { 'x-session-id': 's' }],
    ['prompt_cache_key', { prompt_cache_key: 's' }, {}],
  ] as const)
    // @spec route-34
    test(`stay at the endpoint that answered, whatever its cache costs, when named by ${name}`, async (t) => {
      const two = await start(t);
      two.chance.next = 0.99;
      assert.equal(await ask(two, more, headers), 'Second', 'the price of its cache is unknown');
      two.chance.next = 0;
      assert.equal(await ask(two, {}), 'First', 'chance alone would go elsewhere');
      assert.equal(await ask(two, more, headers), 'Second');
      const body = { model: 'acme/both', max_tokens: 9, messages, ...more };
      const other = (await (await two.gateway.post('/messages', body, headers)).json()) as { provider: string };
      if (name !== 'prompt_cache_key') assert.equal(other.provider, 'Second', 'in the other format, too');
    });

  for (const [name, more, headers] of [
    ['session_id', { session_id: 's' }, {}],
    ['the header', {}, { 'x-session-id': 's' }],
    ['prompt_cache_key', { prompt_cache_key: 's' }, {}],
  ] as const)
    // @spec route-34
    test(`stay at the endpoint whose cache is cheaper to read when named by ${name}`, async (t) => {
      const two = await start(t);
      assert.equal(await ask(two, more, headers), 'First');
      two.chance.next = 0.99;
      assert.equal(await ask(two, {}), 'Second', 'chance alone would go elsewhere');
      assert.equal(await ask(two, more, headers), 'First');
      assert.equal(await ask(two, { ...more, provider: { order: ['second'] } }, headers), 'Second');
    });

  for (const [name, more, headers] of [
    ['session_id', { session_id: 's' }, {}],
    ['the header', {}, { 'x-session-id': 's' }],
    ['prompt_cache_key', { prompt_cache_key: 's' }, {}],
  ] as const)
    // @spec route-36
    test(`belong to their workspace when named by ${name}`, async (t) => {
      const two = await start(t);
      const made = await manage(two.gateway, 'POST', '/workspaces', { name: 'Other', slug: 'other' });
      const { id } = made.body['data'] as { id: string };
      const { key } = (await manage(two.gateway, 'POST', '/keys', { name: 'k', workspace_id: id })).body;
      assert.ok(typeof key === 'string');
      const other = { ...headers, authorization: `Bearer ${key}` };
      assert.equal(await ask(two, more, headers), 'First');
      two.chance.next = 0.99;
      assert.equal(await ask(two, more, other), 'Second');
      assert.equal(await ask(two, more, headers), 'First', 'its own session stays');
      two.chance.next = 0;
      assert.equal(await ask(two, more, other), 'Second', 'so does that of the other workspace');
    });

  // @spec request-19, route-35
  test('are named by the body before the header', async (t) => {
    const two = await start(t);
    await ask(two, { session_id: 'of the body' }, { 'x-session-id': 'of the header' });
    two.chance.next = 0.99;
    assert.equal(await ask(two, {}, { 'x-session-id': 'of the header' }), 'Second');
    assert.equal(await ask(two, {}, { 'x-session-id': 'of the body' }), 'First');
  });

  // @spec route-35
  test('stay without a name once a response used the cache', async (t) => {
    const two = await start(t);
    await ask(two, {});
    two.chance.next = 0.99;
    assert.equal(await ask(two, {}), 'Second');
    two.chance.next = 0;
    const cached = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 8 },
    };
    two.first.script = json(200, chatAnswer('x', { usage: cached }));
    await ask(two, {});
    two.chance.next = 0.99;
    assert.equal(await ask(two, {}), 'First');
    assert.equal(await ask(two, { messages: [{ role: 'user', content: 'another' }] }), 'Second');
  });

  // @spec route-38
  test('leave an endpoint that fails, and do not return', async (t) => {
    const two = await start(t);
    await ask(two, { session_id: 's' });
    two.first.script = json(500, {});
    assert.equal(await ask(two, { session_id: 's' }), 'Second');
    two.first.script = good;
    assert.equal(await ask(two, { session_id: 's' }), 'Second');
  });

  // @spec request-18
  test('have ids of at most 256 characters, in the body and in the header', async (t) => {
    const { gateway } = await start(t);
    const long = 'x'.repeat(257);
    const body = { model: 'acme/both', messages };
    assert.equal((await gateway.post('/chat/completions', { ...body, session_id: long })).status, 400);
    assert.equal((await gateway.post('/chat/completions', body, { 'x-session-id': long })).status, 400);
  });
});

test("merges the operator's preferences: only intersects, ignore unites, the caller wins otherwise", async (t) => {
  const more = 'defaults: { provider: { ignore: [first], sort: price } }';
  const { gateway, first } = await startTwoProviders(t, { first: good, second: good, more });
  const ask = (provider?: object): Promise<Response> =>
    gateway.post('/chat/completions', { model: 'acme/both', messages, ...(provider && { provider }) }, ON);
  const plain = await metadataOf(await ask());
  assert.equal(plain.summary, 'available=1, selected=Second');
  assert.deepEqual(plain.pipeline?.[0]?.data, {
    ordering: 'price',
    excluded: [{ provider: 'First', model: 'acme/both', reason: 'allowed_providers' }],
  });
  assert.equal((await ask({ ignore: ['second'] })).status, 404);
  assert.equal((await ask({ only: ['first'] })).status, 404);
  assert.equal(first.arrived.length, 0);
});
