import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTimeout } from '../../src/lib/async/with-timeout.ts';
import { API_KEY, MANAGEMENT_KEY, type RunningGateway } from '../support/gateway.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatChunk, json, messagesStream, sse, type Script } from '../support/upstream.ts';

const HANG_UP_LIMIT_MS = 250;

interface Watched {
  readonly script: Script;
  readonly arrived: Promise<void>;
  readonly closed: Promise<void>;
}

/** An upstream that says when its caller is gone. @param text what it sends before it falls silent */
function watched(text: string | undefined): Watched {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  return {
    arrived: arrived.promise,
    closed: closed.promise,
    script: (_arrived, response) => {
      response.on('close', () => closed.resolve());
      if (text !== undefined) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(text);
      }
      arrived.resolve();
    },
  };
}

const chatStart = sse([chatChunk({ role: 'assistant', content: 'half' })]);
const messagesStart = messagesStream('half').split('event: content_block_stop')[0] as string;
const messages = [{ role: 'user', content: 'hi' }];

const cases = [
  ['chat, before the headers', 'openai-compatible', '/chat/completions', { stream: true }, undefined],
  ['chat, in the middle', 'openai-compatible', '/chat/completions', { stream: true }, chatStart],
  ['chat, a whole answer', 'openai-compatible', '/chat/completions', { stream: false }, undefined],
  ['messages, before the headers', 'messages-compatible', '/messages', { stream: true, max_tokens: 9 }, undefined],
  ['messages, in the middle', 'messages-compatible', '/messages', { stream: true, max_tokens: 9 }, messagesStart],
  ['messages, a whole answer', 'messages-compatible', '/messages', { stream: false, max_tokens: 9 }, undefined],
] as const;

for (const [name, adapter, path, options, text] of cases)
  // @spec stream-30
  test(`stops the upstream within ${HANG_UP_LIMIT_MS} ms when the caller hangs up: ${name}`, async (t) => {
    const upstream = watched(text);
    const { gateway, first, second } = await startTwoProviders(t, { adapter, first: upstream.script });
    const abort = new AbortController();
    const asking = gateway.post(path, { model: 'acme/both', messages, ...options }, {}, abort.signal);
    await upstream.arrived;
    if (text !== undefined) {
      const reader = (await asking).body?.getReader();
      await reader?.read();
    }
    abort.abort();
    // Time in which this process, which is all three of them, does not get the processor says nothing of the gateway.
    await Promise.all([withTimeout(upstream.closed, HANG_UP_LIMIT_MS), asking.catch(() => undefined)]);
    first.script = json(200, chatAnswer('next'));
    assert.equal(second.arrived.length, 0, 'no other provider is called');
  });

// @spec generation-7, money-17
test('records a hang-up as cancelled and charges what came, as a marked estimate', async (t) => {
  const upstream = watched(chatStart);
  const { gateway } = await startTwoProviders(t, { first: upstream.script });
  const abort = new AbortController();
  const response = await gateway.post(
    '/chat/completions',
    { model: 'acme/first', stream: true, messages },
    {},
    abort.signal,
  );
  const id = response.headers.get('x-generation-id') as string;
  await response.body?.getReader().read();
  abort.abort();
  await upstream.closed;
  let record = await gateway.app.generations.find(id);
  for (let tries = 0; record === undefined && tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    record = await gateway.app.generations.find(id);
  }
  assert.equal(record?.cancelled, true);
  assert.equal(record?.status, 499);
  assert.equal(record?.usageSource, 'estimated');
  assert.ok((record?.costNanoUsd ?? 0) > 0);
});

// @spec generation-7
test('records no failure of the provider when the caller hangs up', async (t) => {
  for (const text of [undefined, chatStart]) {
    const upstream = watched(text);
    const { gateway } = await startTwoProviders(t, { first: upstream.script });
    const abort = new AbortController();
    const body = { model: 'acme/first', stream: text !== undefined, messages };
    const asking = gateway.post('/chat/completions', body, {}, abort.signal);
    await upstream.arrived;
    if (text !== undefined) await (await asking).body?.getReader().read();
    abort.abort();
    await Promise.all([upstream.closed, asking.catch(() => undefined)]);
    const [record] = await recordsAfterHangUp(gateway);
    const { cancelled, status, error_type: errorType } = record ?? {};
    assert.deepEqual({ cancelled, status, errorType }, { cancelled: true, status: 499, errorType: null });
  }
});

for (const [adapter, billsOn] of [
  ['openai-compatible', true],
  ['openai', false],
] as const)
  for (const text of [chatStart, undefined])
    test(`charges a hang-up ${text === undefined ? 'on a response that is not streamed' : 'in the middle'} ${billsOn ? 'the usual length where the provider bills on' : 'only what came where the provider stops billing'}`, async (t) => {
      const usage = { prompt_tokens: 10, completion_tokens: 300, total_tokens: 310 };
      const { gateway, first } = await startTwoProviders(t, { adapter, first: json(200, chatAnswer('ok', { usage })) });
      const ask = (stream: boolean, signal?: AbortSignal) =>
        gateway.post('/chat/completions', { model: 'acme/first', stream, messages }, {}, signal);
      for (let count = 0; count < 5; count++) await (await ask(false)).text();
      const before = await usageOf(gateway);
      const upstream = watched(text);
      first.script = upstream.script;
      const abort = new AbortController();
      const asking = ask(text !== undefined, abort.signal);
      await upstream.arrived;
      if (text !== undefined) await (await asking).body?.getReader().read();
      abort.abort();
      await asking.catch(() => undefined);
      const whole = before / 5;
      const owed = (await usageAfterHangUp(gateway)) - before;
      if (billsOn) assert.ok(Math.abs(owed / whole - 1) < 0.1, `${owed} is about ${whole}`);
      else assert.ok(owed < whole / 10, `${owed} is much less than ${whole}`);
    });

async function usageOf({ baseUrl }: RunningGateway): Promise<number> {
  const answer = await fetch(`${baseUrl}/key`, { headers: { authorization: `Bearer ${API_KEY}` } });
  return ((await answer.json()) as { data: { usage: number } }).data.usage;
}

/** Settles when there is a record, which is a moment after the end of its generation. */
async function recordsAfterHangUp({ baseUrl }: RunningGateway): Promise<readonly Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${API_KEY}` };
  for (let tries = 0; tries < 200; tries++) {
    const listed = await fetch(`${baseUrl}/generations`, { headers });
    const { data } = (await listed.json()) as { data: readonly Record<string, unknown>[] };
    if (data.length > 0) return data;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return [];
}

/** What the caller's key has spent, USD, once its hang-up has been recorded. */
async function usageAfterHangUp(gateway: RunningGateway): Promise<number> {
  const { url } = gateway;
  for (let tries = 0; tries < 200; tries++) {
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${MANAGEMENT_KEY}` } });
    if (/gateway_requests_total\{[^}]*status="499"/.test(await metrics.text())) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return usageOf(gateway);
}

for (const stream of [true, false])
  for (const [adapter, owes] of [
    ['openai-compatible', true],
    ['openai', false],
  ] as const)
    // @spec money-18
    test(`charges a hang-up before the first content ${owes ? 'the prompt where the provider bills on' : 'nothing where the provider stops billing'}: ${stream ? 'a stream' : 'not streamed'}`, async (t) => {
      const upstream = watched(undefined);
      const { gateway } = await startTwoProviders(t, { adapter, first: upstream.script });
      const abort = new AbortController();
      const body = { model: 'acme/both', stream, messages: [{ role: 'user', content: 'word '.repeat(4_000) }] };
      const asking = gateway.post('/chat/completions', body, {}, abort.signal);
      await upstream.arrived;
      abort.abort();
      await asking.catch(() => undefined);
      const usage = await usageAfterHangUp(gateway);
      // Some 5,000 tokens at 1 USD a million, and nothing for an answer.
      if (owes) assert.ok(usage > 0.004 && usage < 0.006, String(usage));
      else assert.equal(usage, 0);
    });

test('serves the next caller after 64 callers that hang up', async (t) => {
  const { gateway, first } = await startTwoProviders(t, { first: () => undefined });
  const aborts = Array.from({ length: 64 }, () => new AbortController());
  const requested = aborts.map((abort) =>
    gateway
      .post('/chat/completions', { model: 'acme/first', stream: true, messages }, {}, abort.signal)
      .then((response) => response.text())
      .catch(() => undefined),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const abort of aborts) abort.abort();
  await Promise.all(requested);
  first.script = json(200, chatAnswer('next'));
  const response = await gateway.post('/chat/completions', { model: 'acme/first', messages });
  assert.equal(response.status, 200);
});
