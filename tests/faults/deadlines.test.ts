import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startGateway } from '../support/gateway.ts';
import { startTwoProviders, type TwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatStream, json, startUpstream, stream, type Script } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];
const body = { model: 'acme/both', max_tokens: 50, messages };

/** Answers either way; silent once the switch is thrown: it accepts, and sends nothing. */
function switched(text: string): { readonly script: Script; silent: boolean | 'after-headers' } {
  const state = {
    silent: false as boolean | 'after-headers',
    script: ((arrived, response, request) => {
      if (state.silent === 'after-headers') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
      }
      if (state.silent !== false) return;
      const answer = arrived.body['stream'] === true ? stream(chatStream(text)) : json(200, chatAnswer(text));
      return answer(arrived, response, request);
    }) satisfies Script,
  };
  return state;
}

interface Limits {
  readonly adaptive_ms: number | null;
  readonly basis: string;
  readonly samples?: number;
  readonly p99_ms?: number;
  readonly headers_ms?: number;
  readonly whole_ms?: number;
}

async function limitsOf({ gateway }: Pick<TwoProviders, 'gateway'>, more: object): Promise<readonly Limits[]> {
  const response = await gateway.post('/route/explain', { ...body, ...more });
  const { candidates } = (await response.json()) as { candidates: readonly { readonly time_limits: Limits }[] };
  return candidates.map(({ time_limits: limits }) => limits);
}

async function warmUp({ gateway }: Pick<TwoProviders, 'gateway'>, path: string, isStream: boolean): Promise<void> {
  for (let request = 0; request < 20; request++) await (await gateway.post(path, { ...body, stream: isStream })).text();
}

suite('a primary that accepts and sends nothing', { concurrency: true }, () => {
  for (const [name, path, isStream, how] of [
    ['a stream', '/chat/completions', true, true],
    ['a stream after its headers', '/chat/completions', true, 'after-headers'],
    ['a whole answer', '/chat/completions', false, true],
    ['a stream of messages', '/messages', true, true],
  ] as const)
    test(`costs ${name} 10 s where its history is quick, and the next request nothing`, async (t) => {
      const primary = switched('first');
      const two = await startTwoProviders(t, { first: primary.script, second: switched('second').script });
      await warmUp(two, path, isStream);
      primary.silent = how;
      const startedMs = performance.now();
      const answer = await (await two.gateway.post(path, { ...body, stream: isStream })).text();
      const tookMs = performance.now() - startedMs;
      assert.match(answer, /second/);
      assert.ok(tookMs >= 9_900 && tookMs < 60_000, `${tookMs} ms`);
      const nextMs = performance.now();
      assert.match(await (await two.gateway.post(path, { ...body, stream: isStream })).text(), /second/);
      assert.ok(performance.now() - nextMs < 9_000, 'the next request waits');
    });

  // @spec fallback-13
  test('gets the configured limit when it is the last candidate', async (t) => {
    const primary = switched('first');
    const two = await startTwoProviders(t, { first: primary.script, timeouts: '{ first_token_ms: 12000 }' });
    const alone = { ...body, model: 'acme/first', stream: true };
    for (let request = 0; request < 20; request++) await (await two.gateway.post('/chat/completions', alone)).text();
    primary.silent = 'after-headers';
    const startedMs = performance.now();
    const response = await two.gateway.post('/chat/completions', alone);
    assert.match(await response.text(), /first-token time limit/);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs >= 11_900 && tookMs < 60_000, `${tookMs} ms`);
  });

  // @spec fallback-16
  test('gets the configured limit with adaptive: false', async (t) => {
    const primary = switched('first');
    const two = await startTwoProviders(t, {
      first: primary.script,
      second: switched('second').script,
      timeouts: '{ headers_ms: 12000 }',
      more: 'deadlines: { adaptive: false }',
    });
    await warmUp(two, '/chat/completions', true);
    primary.silent = true;
    const startedMs = performance.now();
    const answer = await (await two.gateway.post('/chat/completions', { ...body, stream: true })).text();
    assert.match(answer, /second/);
    assert.ok(performance.now() - startedMs >= 11_900);
    assert.deepEqual((await limitsOf(two, { stream: true }))[0], {
      headers_ms: 12_000,
      first_token_ms: 120_000,
      adaptive_ms: null,
      basis: 'off',
    });
  });

  // @spec fallback-13
  test('never gets more than the configured limit', async (t) => {
    const primary = switched('first');
    const two = await startTwoProviders(t, {
      first: primary.script,
      second: switched('second').script,
      timeouts: '{ headers_ms: 300 }',
    });
    primary.silent = true;
    const startedMs = performance.now();
    await (await two.gateway.post('/chat/completions', { ...body, stream: true })).text();
    assert.ok(performance.now() - startedMs < 15_000);
  });
});

interface Unable {
  readonly name: string;
  /** Of the alternative, beside its provider and model. */
  readonly endpoint?: string;
  readonly format?: 'responses';
  readonly ask: object;
  /** It could serve this one, which is of the same class. */
  readonly able: object;
}

/** Alternatives that are up, and that a plan keeps as a last resort. */
const UNABLE: readonly Unable[] = [
  {
    name: 'whose context the prompt hardly fits by a low count',
    endpoint: ', context_length: 10000',
    ask: { max_tokens: 100, messages: [{ role: 'user', content: 'word '.repeat(9_000) }] },
    able: { messages: [{ role: 'user', content: 'word '.repeat(6_000) }] },
  },
  {
    name: 'whose format cannot say the request',
    format: 'responses',
    ask: { max_tokens: 100, messages: [...messages, { role: 'assistant', content: 'Well' }] },
    able: { messages },
  },
];

async function startUnable(t: TestContext, { endpoint = '', format }: Unable, first: Script): Promise<UnablePair> {
  const [slow, other] = [await startUpstream(first), await startUpstream(switched('second').script)];
  const gateway = await startGateway({
    yaml: `
providers:
  first: { adapter: openai-compatible, base_url: "${slow.baseUrl}", api_key: upstream-secret-1 }
  second: { adapter: ${format === undefined ? 'openai-compatible' : 'openai'}, base_url: "${other.baseUrl}", api_key: upstream-secret-2 }
models:
  acme/both:
    endpoints:
      - { provider: first, model: one-2026, price: { prompt: 1, completion: 2 } }
      - { provider: second, model: ${format === undefined ? 'one-2026' : 'gpt-5.4-pro'}, price: { prompt: 1, completion: 2 }${endpoint} }
`,
  });
  t.after(async () => {
    await gateway.close();
    await slow.close();
    await other.close();
  });
  return { gateway };
}
type UnablePair = Pick<TwoProviders, 'gateway'>;

suite('an alternative that cannot serve the request', { concurrency: true }, () => {
  for (const unable of UNABLE) {
    test(`leaves the attempt before it the configured limit: ${unable.name}`, async (t) => {
      const pair = await startUnable(t, unable, switched('first').script);
      const able = await limitsOf(pair, { stream: true, ...unable.able });
      assert.deepEqual(
        able.map(({ basis }) => basis),
        ['few_samples', 'last_candidate'],
      );
      const limits = await limitsOf(pair, { stream: true, ...unable.ask });
      assert.deepEqual(
        limits.map(({ basis }) => basis),
        ['last_candidate', 'last_candidate'],
      );
    });

    test(`does not cut the attempt before it: ${unable.name}`, async (t) => {
      const slow = { afterMs: 0 };
      const first: Script = async (arrived, response, request) => {
        await wait(slow.afterMs);
        return stream(chatStream('first'))(arrived, response, request);
      };
      const pair = await startUnable(t, unable, first);
      const request = { ...body, stream: true, ...unable.ask };
      for (let sent = 0; sent < 20; sent++) await (await pair.gateway.post('/chat/completions', request)).text();
      const [limits] = await limitsOf(pair, { ...request, ...unable.able });
      assert.equal(limits?.basis, 'history');
      slow.afterMs = 600 + (limits.adaptive_ms ?? 0);
      const response = await pair.gateway.post('/chat/completions', request);
      assert.match(await response.text(), /"content":"first"/);
    });
  }
});

test('shows the limits of each candidate and their basis in route/explain', async (t) => {
  const two = await startTwoProviders(t, { first: switched('first').script, second: switched('second').script });
  const cold = await limitsOf(two, { stream: true });
  assert.deepEqual(cold, [
    { headers_ms: 120_000, first_token_ms: 120_000, adaptive_ms: 20_000, basis: 'few_samples', samples: 0 },
    { headers_ms: 120_000, first_token_ms: 120_000, adaptive_ms: null, basis: 'last_candidate' },
  ]);
  assert.deepEqual((await limitsOf(two, {}))[0], {
    whole_ms: 300_000,
    adaptive_ms: null,
    basis: 'configured',
    samples: 0,
  });
  await warmUp(two, '/chat/completions', true);
  const [warm] = await limitsOf(two, { stream: true });
  assert.deepEqual([warm?.adaptive_ms, warm?.basis, warm?.samples], [10_000, 'history', 20]);
  assert.ok((warm?.p99_ms ?? 0) > 0);
});
