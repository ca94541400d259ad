import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { suite, test, type TestContext } from 'node:test';
import { defaultGuardrailId } from '../../src/accounts/policy/default-guardrail-id.ts';
import { DEFAULT_WORKSPACE_ID } from '../../src/accounts/principal.ts';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

const CALLBACK = 'https://app.example/done';
const VERIFIER = 'a-verifier-of-enough-characters-0123456789-_~.';
const CHALLENGE = hash('sha256', VERIFIER, 'base64url');

/** Off by default: tests/accounts/issued-keys.test.ts. */
const NORMAL_KEYS_ISSUE = 'oauth: { normal_keys: true }\n';

async function setUp(t: TestContext): Promise<RunningGateway> {
  const gateway = await startGateway({ yaml: NORMAL_KEYS_ISSUE });
  t.after(() => gateway.close());
  return gateway;
}

async function issue(gateway: RunningGateway, more: object = {}, key = MANAGEMENT_KEY): Promise<JsonObject> {
  const { status, body, text } = await manage(
    gateway,
    'POST',
    '/auth/keys/code',
    { callback_url: CALLBACK, ...more },
    key,
  );
  assert.equal(status, 200, text);
  assert.ok(isJsonObject(body['data']));
  return body['data'];
}

async function exchange(
  gateway: RunningGateway,
  body: object,
): Promise<{ readonly status: number; readonly body: JsonObject; readonly text: string }> {
  const response = await fetch(`${gateway.baseUrl}/auth/keys`, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  const parsed: unknown = JSON.parse(text);
  assert.ok(isJsonObject(parsed), text);
  return { status: response.status, body: parsed, text };
}

/** A key with neither a limit nor an end. */
async function makeKey(gateway: RunningGateway): Promise<{ readonly key: string; readonly hash: string }> {
  const { body } = await manage(gateway, 'POST', '/keys', { name: 'Open' });
  assert.ok(isJsonObject(body['data']));
  return { key: textAt(body, 'key'), hash: textAt(body['data'], 'hash') };
}

/** Puts the key under a guardrail of its own. */
async function guard(gateway: RunningGateway, keyHash: string): Promise<void> {
  const { body } = await manage(gateway, 'POST', '/guardrails', { name: 'Rules', limit_usd: 1 });
  assert.ok(isJsonObject(body['data']));
  const path = `/guardrails/${textAt(body['data'], 'id')}/assignments/keys`;
  const { status, text } = await manage(gateway, 'POST', path, { key_hashes: [keyHash] });
  assert.ok(status < 300, text);
}

const byText = (one: string, other: string): number => (one < other ? -1 : 1);

suite('a code that becomes a key', () => {
  // @spec key-14, key-17
  test('gives a working key with the agreed name, limit and expiry', async (t) => {
    const gateway = await setUp(t);
    const {
      id,
      app_id: appId,
      created_at: at,
    } = await issue(gateway, {
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      key_label: 'Editor',
      limit: 5,
      usage_limit_type: 'weekly',
      expires_at: '2199-01-01T00:00:00Z',
    });
    assert.ok(Number.isSafeInteger(appId) && !Number.isNaN(Date.parse(textAt({ at }, 'at'))));
    const { status, body, text } = await exchange(gateway, {
      code: id,
      code_verifier: VERIFIER,
      code_challenge_method: 'S256',
    });
    assert.equal(status, 200, text);
    assert.deepEqual(Object.keys(body).toSorted(), ['key', 'user_id']);
    const own = await manage(gateway, 'GET', '/key', undefined, textAt(body, 'key'));
    assert.ok(isJsonObject(own.body['data']));
    const { limit, limit_reset: reset, expires_at: expires, is_management_key: isManagement } = own.body['data'];
    assert.deepEqual([limit, reset, expires, isManagement], [5, 'weekly', '2199-01-01T00:00:00.000Z', false]);
    const keys = (await manage(gateway, 'GET', '/keys')).body['data'];
    assert.ok(Array.isArray(keys) && keys.some((key) => key.name === 'Editor'));
  });

  // @spec key-15
  test('works once, even when two exchanges race', async (t) => {
    const gateway = await setUp(t);
    const { id } = await issue(gateway);
    const replies = await Promise.all(Array.from({ length: 20 }, () => exchange(gateway, { code: id })));
    assert.equal(replies.filter(({ status }) => status === 200).length, 1);
    assert.ok(replies.every(({ status }) => status === 200 || status === 403));
    assert.equal((await exchange(gateway, { code: id })).status, 403);
  });

  test('names the key after the application by default, with one number for one origin', async (t) => {
    const gateway = await setUp(t);
    const codes = [
      await issue(gateway),
      await issue(gateway, { callback_url: 'https://app.example/other' }),
      await issue(gateway, { callback_url: 'http://localhost:3000/done' }),
    ];
    const [one, two, local] = codes.map(({ app_id: id }) => id);
    assert.equal(one, two);
    assert.notEqual(one, local);
    for (const { id } of codes) await exchange(gateway, { code: id });
    const keys = (await manage(gateway, 'GET', '/keys')).body['data'];
    assert.ok(Array.isArray(keys));
    assert.deepEqual(keys.map(({ name }) => name).toSorted(byText), ['app.example', 'app.example', 'localhost:3000']);
  });
});

suite('a refused code', () => {
  // @spec key-16
  test('stays valid after a wrong or missing verifier', async (t) => {
    const gateway = await setUp(t);
    const { id } = await issue(gateway, { code_challenge: CHALLENGE, code_challenge_method: 'S256' });
    for (const wrong of [{}, { code_verifier: '' }, { code_verifier: CHALLENGE }, { code_verifier: `${VERIFIER}x` }])
      assert.equal((await exchange(gateway, { code: id, ...wrong })).status, 403);
    const other = await exchange(gateway, { code: id, code_verifier: VERIFIER, code_challenge_method: 'plain' });
    assert.equal(other.status, 400);
    assert.equal((await exchange(gateway, { code: id, code_verifier: VERIFIER })).status, 200);
  });

  test('has a verifier without a challenge, which may have been removed', async (t) => {
    const gateway = await setUp(t);
    const { id } = await issue(gateway);
    assert.equal((await exchange(gateway, { code: id, code_verifier: VERIFIER })).status, 400);
  });

  // @spec key-16
  test('was never issued, or is malformed', async (t) => {
    const gateway = await setUp(t);
    for (const code of ['x', 'A'.repeat(43), "' or 1=1 --"])
      assert.equal((await exchange(gateway, { code })).status, 403);
    for (const body of [{}, { code: '' }, { code: 'x', more: 1 }, { code: 'x'.repeat(300) }])
      assert.equal((await exchange(gateway, body)).status, 400);
  });

  // @spec key-17
  test('takes a plain challenge as the verifier itself', async (t) => {
    const gateway = await setUp(t);
    const { id } = await issue(gateway, { code_challenge: VERIFIER, code_challenge_method: 'plain' });
    assert.equal((await exchange(gateway, { code: id, code_verifier: `${VERIFIER}x` })).status, 403);
    assert.equal((await exchange(gateway, { code: id, code_verifier: VERIFIER })).status, 200);
  });
});

suite('the right to issue a code', () => {
  const narrowings: Readonly<Record<string, (gateway: RunningGateway, keyHash: string) => Promise<unknown>>> = {
    deleted: (gateway, keyHash) => manage(gateway, 'DELETE', `/keys/${keyHash}`),
    disabled: (gateway, keyHash) => manage(gateway, 'PATCH', `/keys/${keyHash}`, { disabled: true }),
    limited: (gateway, keyHash) => manage(gateway, 'PATCH', `/keys/${keyHash}`, { limit: 1 }),
    'put under a guardrail': guard,
  };
  for (const [what, narrow] of Object.entries(narrowings))
    // @spec key-20
    test(`ends when the issuing key was ${what}`, async (t) => {
      const gateway = await setUp(t);
      const { key, hash: keyHash } = await makeKey(gateway);
      const { id: code } = await issue(gateway, {}, key);
      await narrow(gateway, keyHash);
      const { status, text } = await exchange(gateway, { code });
      assert.equal(status, 403, text);
      const keys = (await manage(gateway, 'GET', '/keys')).body['data'];
      assert.ok(Array.isArray(keys) && keys.every(({ hash: other }) => other === keyHash));
    });

  test('ends with the workspace of the new key', async (t) => {
    const gateway = await setUp(t);
    const { body } = await manage(gateway, 'POST', '/workspaces', { name: 'T', slug: 't' });
    assert.ok(isJsonObject(body['data']));
    const { id: code } = await issue(gateway, { workspace_id: textAt(body['data'], 'id') });
    assert.equal((await manage(gateway, 'DELETE', '/workspaces/t')).status, 200);
    assert.equal((await exchange(gateway, { code })).status, 403);
  });

  test('belongs to a key of the environment, too', async (t) => {
    const gateway = await setUp(t);
    const { id: code } = await issue(gateway, {}, API_KEY);
    assert.equal((await exchange(gateway, { code })).status, 200);
  });
});

test('is audited with issuer and issued key, and never the code', async (t) => {
  const gateway = await setUp(t);
  const { key, hash: keyHash } = await makeKey(gateway);
  const { id: code } = await issue(gateway, { limit: 5, code_challenge: VERIFIER }, key);
  const exchanged = await exchange(gateway, { code, code_verifier: VERIFIER });
  const newHash = hash('sha256', textAt(exchanged.body, 'key'), 'hex');
  const { body, text } = await manage(gateway, 'GET', `/audit?actor=${keyHash}`);
  const events = body['data'];
  assert.ok(Array.isArray(events));
  assert.deepEqual(
    events.map(({ action, subject, changes }) => ({ action, subject, changes })),
    [
      {
        action: 'exchangeAuthCodeForAPIKey',
        subject: `/keys/${newHash}`,
        changes: { name: 'app.example', workspace_id: DEFAULT_WORKSPACE_ID },
      },
      {
        action: 'createAuthKeysCode',
        subject: '/auth/keys/code',
        changes: {
          application: 'https://app.example',
          key_label: 'app.example',
          workspace_id: DEFAULT_WORKSPACE_ID,
          limit: 5,
          usage_limit_type: null,
          expires_at: null,
        },
      },
    ],
  );
  for (const secret of [textAt({ code }, 'code'), VERIFIER, textAt(exchanged.body, 'key')])
    assert.ok(!text.includes(secret));
});

suite('issuing a code', () => {
  // @spec key-13
  test('needs a key, an address of the application or a challenge, and no risky address', async (t) => {
    const gateway = await setUp(t);
    const status = async (body: object, key = MANAGEMENT_KEY) =>
      (await manage(gateway, 'POST', '/auth/keys/code', body, key)).status;
    assert.equal(await status({ callback_url: CALLBACK }, 'not-a-key-0123456789'), 401);
    for (const callback of [
      'http://app.example/done',
      'javascript:alert(1)',
      'ftp://app.example',
      'https://user@app.example/',
      'https://app.example/#x',
      'http://localhost.evil.example/',
      'not an address',
    ])
      assert.equal(await status({ callback_url: callback }), 400, callback);
    for (const body of [
      {},
      { callback_url: CALLBACK, code_challenge: 'short', code_challenge_method: 'S256' },
      { callback_url: CALLBACK, code_challenge_method: 'S256' },
      { callback_url: CALLBACK, key_label: 'x'.repeat(101) },
      { callback_url: CALLBACK, expires_at: '2199-01-01T00:00:00+02:00' },
      { callback_url: CALLBACK, usage_limit_type: 'yearly' },
      { callback_url: CALLBACK, workspace_id: '00000000-0000-4000-8000-00000000dead' },
      { callback_url: CALLBACK, unknown: 1 },
    ])
      assert.equal(await status(body), 400, JSON.stringify(body));
    assert.equal(await status({ callback_url: 'http://127.0.0.1:8000/x', spawn_agent: 'a', spawn_cloud: 'b' }), 200);
    assert.equal(await status({ code_challenge: CHALLENGE, code_challenge_method: 'S256' }), 200);
  });

  // @spec key-19
  test('is open only to a key without limit and expiry, which cannot give away more than it has', async (t) => {
    const gateway = await setUp(t);
    await issue(gateway, {}, API_KEY);
    for (const narrow of [{ limit: 1 }, { expires_at: '2199-01-01T00:00:00Z' }]) {
      const { body } = await manage(gateway, 'POST', '/keys', { name: 'Narrow', ...narrow });
      const { status } = await manage(
        gateway,
        'POST',
        '/auth/keys/code',
        { callback_url: CALLBACK },
        textAt(body, 'key'),
      );
      assert.equal(status, 403);
    }
  });

  test('is open for any number of applications, which all share the rules of the workspace', async (t) => {
    const upstream = await startUpstream(json(200, chatAnswer('ok')));
    t.after(() => upstream.close());
    const gateway = await startGateway({
      yaml: `${NORMAL_KEYS_ISSUE}
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 10, completion: 10 } }]
`,
    });
    t.after(() => gateway.close());
    const { key: issuer, hash: issuerHash } = await makeKey(gateway);
    const keys: string[] = [];
    for (const callback of [CALLBACK, CALLBACK, 'https://other.example/done']) {
      const { id: code } = await issue(gateway, { callback_url: callback }, issuer);
      keys.push(textAt((await exchange(gateway, { code })).body, 'key'));
    }
    assert.equal(new Set([issuer, ...keys]).size, 4);
    const ask = async (key: string): Promise<number> => {
      const request = { model: 'acme/one', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
      return (await gateway.post('/chat/completions', request, { authorization: `Bearer ${key}` })).status;
    };
    for (const key of keys) assert.equal(await ask(key), 200);
    await manage(gateway, 'PUT', `/workspaces/${DEFAULT_WORKSPACE_ID}/budgets/daily`, { limit_usd: 0.000_01 });
    for (const key of [issuer, ...keys]) assert.equal(await ask(key), 403, 'they spend of one budget');
    await manage(gateway, 'DELETE', `/workspaces/${DEFAULT_WORKSPACE_ID}/budgets/daily`);
    await manage(gateway, 'DELETE', `/keys/${issuerHash}`);
    const { body } = await manage(gateway, 'GET', '/keys');
    assert.ok(Array.isArray(body['data']));
    const made = body['data'].filter(isJsonObject).filter((one) => textAt(one, 'name').endsWith('.example'));
    assert.equal(made.length, 3, 'each is listed, and revoked, by itself');
    for (const one of made) await manage(gateway, 'DELETE', `/keys/${textAt(one, 'hash')}`);
    for (const key of keys) assert.equal(await ask(key), 401);
  });

  // @spec key-19
  test('is closed to a key with a guardrail, which the new key would lack', async (t) => {
    const gateway = await setUp(t);
    const { key, hash: keyHash } = await makeKey(gateway);
    const { id: code } = await issue(gateway, {}, key);
    assert.equal((await exchange(gateway, { code })).status, 200);
    await guard(gateway, keyHash);
    const { status, text } = await manage(gateway, 'POST', '/auth/keys/code', { callback_url: CALLBACK }, key);
    assert.equal(status, 403);
    assert.match(text, /guardrail/);
  });

  test('is closed to a key with binding defaults, and open with preferences', async (t) => {
    const gateway = await setUp(t);
    const { key, hash: keyHash } = await makeKey(gateway);
    const { id: code } = await issue(gateway, {}, key);
    const bind = async (defaults: object): Promise<number> => {
      const none = { default_provider_preferences: null, default_plugins: null };
      const { status, text } = await manage(gateway, 'PATCH', `/keys/${keyHash}`, { ...none, ...defaults });
      assert.equal(status, 200, text);
      return (await manage(gateway, 'POST', '/auth/keys/code', { callback_url: CALLBACK }, key)).status;
    };
    for (const preferences of [{ only: ['alpha'] }, { ignore: ['alpha'] }, { zdr: true }, { data_collection: 'deny' }])
      assert.equal(await bind({ default_provider_preferences: preferences }), 403, JSON.stringify(preferences));
    assert.equal((await exchange(gateway, { code })).status, 403, 'a code of before');
    const plugin = { id: 'web', max_results: 1 };
    assert.equal(await bind({ default_plugins: [{ ...plugin, prevent_overrides: true }] }), 403);
    assert.equal(await bind({ default_provider_preferences: { order: ['alpha'] }, default_plugins: [plugin] }), 200);
  });

  test("is closed in a workspace with limits for each key, except for a member's key", async (t) => {
    const gateway = await setUp(t);
    const { key } = await makeKey(gateway);
    const { body: ofMember } = await manage(gateway, 'POST', '/keys', { name: 'Hers', creator_user_id: 'ann' });
    const guardrail = `/guardrails/${defaultGuardrailId(DEFAULT_WORKSPACE_ID)}`;
    const statuses = async (): Promise<readonly number[]> => {
      const input = { callback_url: CALLBACK };
      const requested = [key, API_KEY, textAt(ofMember, 'key'), MANAGEMENT_KEY].map((each) =>
        manage(gateway, 'POST', '/auth/keys/code', input, each),
      );
      return (await Promise.all(requested)).map(({ status }) => status);
    };
    await manage(gateway, 'PATCH', guardrail, { limit_usd: 1 });
    assert.deepEqual(await statuses(), [403, 403, 200, 200]);
    await manage(gateway, 'PATCH', guardrail, { limit_usd: null, enforce_zdr: true });
    assert.deepEqual(await statuses(), [200, 200, 200, 200], 'what else it rules it rules for all');
  });

  // @spec key-15
  test('leaves nothing in the database that could be exchanged', async (t) => {
    const gateway = await setUp(t);
    const { id } = await issue(gateway);
    for (const name of await readdir(gateway.dataDir)) {
      const bytes = await readFile(`${gateway.dataDir}/${name}`).catch(() => Buffer.alloc(0));
      assert.ok(!bytes.includes(textAt({ id }, 'id')), name);
    }
  });
});

// @spec key-14
test('is 405 with other methods than POST at the exchange', async (t) => {
  const gateway = await setUp(t);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const response = await fetch(`${gateway.baseUrl}/auth/keys`, { method });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST']);
  }
});
