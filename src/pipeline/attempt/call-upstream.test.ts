import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../../catalog/model.ts';
import { CredentialError, type Provider } from '../../providers/contract.ts';
import { createProviders } from '../../providers/index.ts';
import { messagesUpstreamFormat } from '../../wire/messages/format.ts';
import { decode } from '../../../tests/support/wire/messages/request.ts';
import { authorizeCall, prepareCall, type PreparedCall } from './call-upstream.ts';

const TIMEOUTS = { connectMs: 1, headersMs: 2, firstTokenMs: 3, idleMs: 4, wholeMs: 5 };
const ENDPOINT: Endpoint = {
  model: 'deepseek/deepseek-v4-pro',
  provider: 'deepseek',
  providerName: 'DeepSeek',
  upstreamModel: 'deepseek-v4-pro',
  price: undefined,
  dataPolicy: {},
  formats: ['chat', 'messages'],
  cancellable: true,
};

function providerOf(env: Readonly<Record<string, string>>): Provider {
  const [provider] = createProviders({ config: [], env, timeouts: TIMEOUTS }).values();
  assert.ok(provider !== undefined);
  return provider;
}

function prepare(provider: Provider): PreparedCall {
  const request = decode({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] });
  return prepareCall(provider, messagesUpstreamFormat, ENDPOINT, request, 'u');
}

test('calls a format beside the base URL at its own path, with its own headers', async () => {
  const provider = providerOf({ DEEPSEEK_API_KEY: 'deepseek-key' });
  const prepared = prepare(provider);
  assert.equal(prepared.origin + prepared.path, 'https://api.deepseek.com/anthropic/v1/messages');
  const { headers } = await authorizeCall(provider, prepared);
  assert.equal(headers['x-api-key'], 'deepseek-key');
  assert.equal(headers['anthropic-version'], '2023-06-01');
});

test('does not wait for a credential that does not come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const provider: Provider = {
    ...providerOf({ DEEPSEEK_API_KEY: 'k' }),
    authorize: () => new Promise(() => undefined),
  };
  const call = authorizeCall(provider, prepare(provider));
  t.mock.timers.tick(9_999);
  const early = await Promise.race([call, Promise.resolve('waiting')]);
  assert.equal(early, 'waiting');
  t.mock.timers.tick(1);
  await assert.rejects(Promise.resolve(call), CredentialError);
});

test('leaves no timer behind a credential that came', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const provider: Provider = {
    ...providerOf({ DEEPSEEK_API_KEY: 'k' }),
    authorize: () => Promise.resolve({ 'x-a': 'b' }),
  };
  const before = timers();
  const call = authorizeCall(provider, prepare(provider));
  assert.equal(timers(), before + 1);
  assert.equal((await call).headers['x-a'], 'b');
  assert.equal(timers(), before);
});
