import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const WORKSPACE = '00000000-0000-4000-8000-000000000001';
/** What one answer costs. */
const ANSWER_USD = 0.001;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };

/** Members of a management answer's `data` that these tests read. */
interface Data {
  readonly id: string;
  readonly hash: string;
}

suite('account rules', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    const endpoint = (provider: string): string =>
      `{ provider: ${provider}, model: one, price: { prompt: 0, completion: 10 } }`;
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a, data_policy: { training: false, retention_days: 30 } }
  beta: { adapter: openai-compatible, name: Beta, base_url: ${upstream.baseUrl}, api_key: b, data_policy: { training: false, retention_days: 0 } }
  gamma: { adapter: anthropic, name: Gamma, base_url: ${upstream.baseUrl}, api_key: c }
models:
  acme/one: { endpoints: [${endpoint('alpha')}, ${endpoint('beta')}] }
  acme/counted: { endpoints: [${endpoint('gamma')}] }
  acme/one:free: { endpoints: [${endpoint('alpha')}] }
  acme/two: { endpoints: [${endpoint('alpha')}] }
  acme/unpriced: { endpoints: [{ provider: alpha, model: unpriced }] }
`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.arrived.length = 0;
  });

  async function manage(method: string, path: string, body?: object): Promise<{ data: Data; key: string }> {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { data: Data; key: string };
  }

  async function newKey(input: object = {}) {
    const { key, data } = await manage('POST', '/keys', { name: 'ruled', ...input });
    return {
      hash: data.hash,
      key,
      ask: async (changes: object = {}) => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await gateway.post('/chat/completions', { ...REQUEST, ...changes }, headers);
        const body = (await response.json()) as { provider?: string; error?: { message: string } };
        return { status: response.status, provider: body.provider, message: body.error?.message ?? '' };
      },
    };
  }

  async function guard(hash: string, rules: object): Promise<void> {
    const { data } = await manage('POST', '/guardrails', { name: 'rule', ...rules });
    await manage('POST', `/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] });
  }

  // @spec workspace-9
  test('refuse all keys of a workspace over budget with 403, and name the interval', async () => {
    const { data } = await manage('POST', '/workspaces', { name: 'Small', slug: 'small' });
    const [first, second] = [await newKey({ workspace_id: data.id }), await newKey({ workspace_id: data.id })];
    await manage('PUT', `/workspaces/${data.id}/budgets/daily`, { limit_usd: 2 * ANSWER_USD });
    assert.deepEqual([(await first.ask()).status, (await second.ask()).status], [200, 200]);
    const { status, message } = await first.ask();
    assert.equal(status, 403);
    assert.match(message, /^The workspace has nothing left of its daily budget of 0\.002 USD/);
    assert.equal((await (await newKey()).ask()).status, 200, 'keys of other workspaces are not affected');
    await manage('PUT', `/workspaces/${data.id}/budgets/daily`, { limit_usd: ANSWER_USD });
    await manage('PUT', `/workspaces/${data.id}/budgets/lifetime`, { limit_usd: 2 * ANSWER_USD });
    const ever = await first.ask();
    assert.match(
      ever.message,
      /^The workspace has nothing left of its lifetime budget of 0\.002 USD\. Raise the budget\.$/,
      'the broadest',
    );
  });

  // @spec guardrail-10
  test('give each key of a guardrail a budget of its own', async () => {
    const [first, second] = [await newKey(), await newKey()];
    const { data } = await manage('POST', '/guardrails', {
      name: 'rule',
      limit_usd: ANSWER_USD,
      reset_interval: 'daily',
    });
    await manage('POST', `/guardrails/${data.id}/assignments/keys`, { key_hashes: [first.hash, second.hash] });
    for (const { ask } of [first, second]) {
      assert.equal((await ask()).status, 200);
      assert.match((await ask()).message, /^A guardrail leaves this caller nothing of its daily budget/);
    }
  });

  // @spec guardrail-12, route-21
  test('skip providers and models that a guardrail does not allow', async () => {
    const beta = await newKey();
    await guard(beta.hash, { allowed_providers: ['beta'] });
    assert.equal((await beta.ask()).provider, 'Beta');
    assert.equal((await beta.ask({ model: 'acme/two' })).status, 403);
    const one = await newKey();
    await guard(one.hash, { ignored_models: ['acme/two'] });
    assert.equal((await one.ask()).status, 200);
    const refused = await one.ask({ model: 'acme/two' });
    assert.equal(refused.status, 403);
    assert.match(refused.message, /guardrails of this account do not allow "acme\/two" \(guardrail:models\)/);
    assert.equal((await one.ask({ model: 'acme/two', models: ['acme/two', 'acme/one'] })).status, 200);
  });

  test('count no tokens where the request itself is refused', async () => {
    const counts = async (key: string): Promise<number> => {
      upstream.arrived.length = 0;
      const headers = { authorization: `Bearer ${key}` };
      const response = await gateway.post('/messages/count_tokens', { ...REQUEST, model: 'acme/counted' }, headers);
      assert.equal(response.status, 200);
      return upstream.arrived.length;
    };
    const ruled = await newKey();
    assert.equal(await counts(ruled.key), 1);
    await guard(ruled.hash, { ignored_providers: ['gamma'] });
    assert.equal(await counts(ruled.key), 0, 'an estimate will do');
  });

  // @spec guardrail-12
  test('ignore a model under any suffix', async () => {
    const key = await newKey();
    await guard(key.hash, { ignored_models: ['acme/one'] });
    assert.equal((await key.ask({ model: 'acme/one:free' })).status, 403);
  });

  // @spec route-10
  test('enforce zero retention of a guardrail, whatever the request says', async () => {
    const key = await newKey();
    await guard(key.hash, { enforce_zdr_other: true });
    assert.equal((await key.ask({ provider: { order: ['alpha'], zdr: false } })).provider, 'Beta');
  });

  test('merge preferences of a key with those of the request', async () => {
    const key = await newKey();
    await manage('PATCH', `/keys/${key.hash}`, { default_provider_preferences: { order: ['beta'] } });
    assert.equal((await key.ask()).provider, 'Beta');
    assert.equal((await key.ask({ provider: { order: ['alpha'] } })).provider, 'Alpha');
    await manage('PATCH', `/keys/${key.hash}`, { default_provider_preferences: { only: ['beta'] } });
    assert.equal((await key.ask({ provider: { only: ['alpha'] } })).status, 404);
    await manage('PATCH', `/workspaces/${WORKSPACE}`, { default_provider_preferences: { ignore: ['beta'] } });
    assert.equal((await key.ask()).status, 404, 'what the workspace ignores is ignored for all its keys');
    await manage('PATCH', `/workspaces/${WORKSPACE}`, { default_provider_preferences: null });
    assert.equal((await key.ask()).provider, 'Beta');
  });

  // @spec money-33
  test('exclude endpoints of unknown price for keys with a limit', async () => {
    const [free, limited] = [await newKey(), await newKey({ limit: 1 })];
    assert.equal((await free.ask({ model: 'acme/unpriced' })).status, 200);
    const refused = await limited.ask({ model: 'acme/unpriced' });
    assert.equal(refused.status, 404);
    assert.match(refused.message, /Give its endpoint a price; 0 is allowed\.$/);
    assert.equal((await limited.ask({ model: 'acme/unpriced', models: ['acme/unpriced', 'acme/one'] })).status, 200);
  });

  // @spec money-46
  test('needs no credit where the configuration does not say so', async () => {
    assert.equal((await (await newKey()).ask()).status, 200);
    const response = await fetch(`${gateway.baseUrl}/credits`, {
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
    });
    const { data } = (await response.json()) as { data: { total_credits: number } };
    assert.equal(data.total_credits, 0);
  });
});

suite('credit', () => {
  // @spec money-46
  test('serves an account as far as its credit goes', async (t) => {
    const upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    t.after(() => upstream.close());
    const gateway = await startGateway({
      yaml: `
credits: { enforce: true }
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
  acme/free: { endpoints: [{ provider: alpha, model: free, price: { prompt: 0, completion: 0 } }] }
`,
    });
    t.after(() => gateway.close());
    const status = async (changes: object = {}): Promise<number> => {
      const response = await gateway.post('/chat/completions', { ...REQUEST, ...changes });
      // With its end the charge is counted.
      await response.text();
      return response.status;
    };
    const manage = (path: string, body?: object): Promise<Response> =>
      fetch(gateway.baseUrl + path, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      });
    assert.equal(await status(), 402);
    assert.equal(await status({ model: 'acme/free' }), 200, 'what is free needs no credit');
    assert.equal((await manage('/credits/grants', { amount: 2 * ANSWER_USD, note: 'for the team' })).status, 201);
    assert.deepEqual([await status(), await status(), await status()], [200, 200, 402]);
    const { data } = (await (await manage('/credits')).json()) as { data: object };
    assert.deepEqual(data, { total_credits: 2 * ANSWER_USD, total_usage: 2 * ANSWER_USD });
    assert.equal(await status({ max_tokens: undefined }), 402);
    await manage('/credits/grants', { amount: ANSWER_USD / 2, note: 'a little more' });
    assert.equal(await status({ max_tokens: undefined }), 402, 'a maximum of the gateway is 1,024 tokens at least');
    assert.equal(await status({ max_tokens: undefined, stream: true }), 200, 'a stream begins with what is left');
    assert.equal(await status({ model: 'acme/free' }), 402, 'an account that owes is not served at all');
  });
});
