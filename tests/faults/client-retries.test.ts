import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { API_KEY, startGateway } from '../support/gateway.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { json, type Script } from '../support/upstream.ts';

/** As often as the vendors' clients repeat a request by default. */
const RETRIES = 2;

const failing: Readonly<Record<string, Script>> = {
  'a status 500': json(500, { error: { message: 'oops' } }),
  'a broken connection': (_arrived, response) => void response.socket?.destroy(),
  'refused credentials': json(401, { error: { message: 'bad key' } }),
};

async function askWithClients(url: string, model: string): Promise<void> {
  const chat = new OpenAI({ apiKey: API_KEY, baseURL: `${url}/v1`, maxRetries: RETRIES });
  await assert.rejects(
    chat.chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] }),
    OpenAI.InternalServerError,
  );
  const messages = new Anthropic({ apiKey: API_KEY, baseURL: url, maxRetries: RETRIES });
  await assert.rejects(
    messages.messages.create({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    Anthropic.InternalServerError,
  );
}

suite('a real client', () => {
  for (const [name, script] of Object.entries(failing))
    // @spec error-20
    test(`does not retry what two providers failed: ${name}`, async (t) => {
      const { gateway, first, second } = await startTwoProviders(t, { first: script, second: script });
      await askWithClients(gateway.url, 'acme/both');
      assert.deepEqual([first.arrived.length, second.arrived.length], [2, 2], 'one attempt a provider and request');
    });

  test('does not retry what one provider failed twice', async (t) => {
    const { gateway, first } = await startTwoProviders(t, { first: failing['a status 500'] ?? json(500, {}) });
    await askWithClients(gateway.url, 'acme/first');
    assert.equal(first.arrived.length, 2 * 2, 'the gateway itself asks the only provider once more');
  });

  test("does not retry what one provider refused for the gateway's credentials", async (t) => {
    const { gateway, first } = await startTwoProviders(t, { first: failing['refused credentials'] ?? json(401, {}) });
    await askWithClients(gateway.url, 'acme/first');
    assert.equal(first.arrived.length, 2);
  });
});

suite('x-should-retry', () => {
  const messages = [{ role: 'user', content: 'hi' }];

  for (const [status, headers] of [
    [429, {}],
    [529, {}],
    [429, { 'retry-after': '7' }],
    [503, { 'retry-after': '7' }],
    [400, {}],
    [422, {}],
  ] as const)
    test(`is absent after ${status} ${JSON.stringify(headers)}: waiting helps, or no client would retry`, async (t) => {
      const script = json(status, { error: { message: 'later' } }, headers);
      const { gateway } = await startTwoProviders(t, { first: script, second: script });
      for (const stream of [false, true]) {
        const response = await gateway.post('/chat/completions', { model: 'acme/both', stream, messages });
        assert.ok(response.status >= 400);
        assert.equal(response.headers.get('x-should-retry'), null);
      }
    });

  // @spec error-20
  test('is false when the time of the whole request was not enough', async (t) => {
    const { gateway } = await startTwoProviders(t, { first: () => undefined, timeouts: '{ total_ms: 100 }' });
    const response = await gateway.post('/chat/completions', { model: 'acme/first', messages });
    assert.equal(response.status, 408);
    assert.equal(response.headers.get('x-should-retry'), 'false');
    assert.match(response.headers.get('access-control-expose-headers') ?? '', /X-Should-Retry/);
  });

  // @spec error-20
  test('is absent when no provider was called', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    for (const body of ['{', { messages }, { model: 'no/such', messages }])
      assert.equal((await gateway.post('/messages', body)).headers.get('x-should-retry'), null);
  });
});
