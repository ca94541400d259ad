import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, startGateway, type GatewayOptions, type RunningGateway } from '../support/gateway.ts';

const VALUE = 's3cret-canary-0123456789';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

type Call = (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>;

async function setUp(
  t: TestContext,
  options: GatewayOptions = {},
): Promise<{ readonly call: Call; readonly gateway: RunningGateway }> {
  const gateway = await startGateway(options);
  t.after(() => gateway.close());
  const call: Call = async (method, path, body, key = MANAGEMENT_KEY) => {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text === '' ? {} : JSON.parse(text) };
  };
  return { gateway, call };
}

const ok = { value: VALUE, hosts: ['API.Alpha.example.', 'api.alpha.example', 'b.example'] };

suite('routes of the vault', () => {
  // @spec vault-1, vault-2, vault-4, vault-5
  test('store, list and delete secrets, and never show a value', async (t) => {
    const { call } = await setUp(t);
    const stored = await call('PUT', '/vault/secrets/alpha_key', ok);
    assert.equal(stored.status, 200, stored.text);
    assert.partialDeepStrictEqual(stored.body, {
      data: {
        name: 'alpha_key',
        hosts: ['api.alpha.example', 'b.example'],
        backend: 'builtin',
        last_released_at: null,
      },
    });
    await call('PUT', '/vault/secrets/beta', ok);
    await call('PUT', '/vault/secrets/gamma', { ...ok, value: 'another value' });
    await call('PUT', '/vault/secrets/alpha_key?workspace_id=operator', ok);
    const list = await call('GET', '/vault/secrets', undefined, API_KEY);
    const { data, total_count: count } = list.body;
    assert.ok(Array.isArray(data));
    const [alpha, beta, gamma] = data;
    assert.deepEqual([data.length, count], [3, 3]);
    assert.match(String(alpha.fingerprint), /^[0-9a-f]{16}$/);
    assert.equal(alpha.fingerprint, beta.fingerprint);
    assert.notEqual(alpha.fingerprint, gamma.fingerprint);
    const operators = await call('GET', '/vault/secrets?workspace_id=operator');
    assert.equal(operators.body['total_count'], 1);
    assert.ok(!operators.text.includes(String(alpha.fingerprint)), 'a fingerprint says nothing across scopes');
    const audit = await call('GET', '/audit');
    for (const text of [stored.text, list.text, operators.text, audit.text]) assert.ok(!text.includes(VALUE));
    assert.match(audit.text, /\/vault\/secrets\/alpha_key in operator/);
    assert.deepEqual(await call('DELETE', '/vault/secrets/alpha_key'), { status: 204, text: '', body: {} });
    assert.equal((await call('DELETE', '/vault/secrets/alpha_key')).status, 404);
    assert.equal((await call('GET', '/vault/secrets')).body['total_count'], 2);
  });

  // @spec vault-2, vault-3
  test('refuse what cannot be a secret, and name the member', async (t) => {
    const { call } = await setUp(t);
    for (const [path, body, at] of [
      ['Alpha', ok, 'name'],
      ['a__b', ok, 'name'],
      ['a_', ok, 'name'],
      ['a', { ...ok, value: '' }, 'value'],
      ['a', { ...ok, value: 'x'.repeat(65_537) }, 'value'],
      ['a', { value: VALUE }, 'hosts'],
      ['a', { ...ok, hosts: [] }, 'hosts'],
      ['a', { ...ok, hosts: ['a.example', '*.example'] }, 'hosts[1]'],
      ['a', { ...ok, hosts: ['localhost'] }, 'hosts[0]'],
      ['a', { ...ok, note: 1 }, 'note'],
    ] as const) {
      const refused = await call('PUT', `/vault/secrets/${path}`, body);
      assert.equal(refused.status, 400, refused.text);
      assert.ok(refused.text.includes(`"path":"${at}"`), refused.text);
      assert.ok(!refused.text.includes(VALUE));
    }
  });

  // @spec vault-6
  test('let keys without an admin behind them read alone, unless the operator says otherwise', async (t) => {
    const { call } = await setUp(t);
    const refused = await call('PUT', '/vault/secrets/a', ok, API_KEY);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /vault\.writers/);
    assert.equal((await call('DELETE', '/vault/secrets/a', undefined, API_KEY)).status, 403);
    assert.equal((await call('GET', '/vault/releases', undefined, API_KEY)).status, 403);
    assert.equal((await call('GET', '/vault/secrets?workspace_id=operator', undefined, API_KEY)).status, 404);
    const open = await setUp(t, { yaml: 'vault: { writers: any }' });
    assert.equal((await open.call('PUT', '/vault/secrets/a', ok, API_KEY)).status, 200);
    assert.equal((await open.call('PUT', '/vault/secrets/a?workspace_id=operator', ok, API_KEY)).status, 404);
    assert.match((await open.call('GET', '/audit')).text, /putVaultSecret/, 'changes by any key are audited');
  });

  // @spec vault-7
  test('change nothing while the operator turned writes off', async (t) => {
    const { call } = await setUp(t, { yaml: 'vault: { writes: false }' });
    assert.equal((await call('PUT', '/vault/secrets/a', ok)).status, 503);
    assert.equal((await call('DELETE', '/vault/secrets/a')).status, 503);
    assert.equal((await call('GET', '/vault/secrets')).status, 200);
  });

  // @spec vault-7, vault-21
  test('delete no secret that the configuration names, unless forced', async (t) => {
    const yaml = `providers: { alpha: { adapter: openai-compatible, base_url: "https://api.alpha.example/v1", api_key: "vault:alpha" } }`;
    const { call } = await setUp(t, { yaml });
    await call('PUT', '/vault/secrets/alpha?workspace_id=operator', ok);
    const { data } = (await call('GET', '/vault/secrets/alpha?workspace_id=operator')).body;
    assert.partialDeepStrictEqual(data, { name: 'alpha', references: ['providers.alpha.api_key'] });
    assert.equal((await call('GET', '/vault/secrets/alpha?workspace_id=operator', undefined, API_KEY)).status, 404);
    assert.equal((await call('GET', '/vault/secrets/beta?workspace_id=operator')).status, 404);
    const refused = await call('DELETE', '/vault/secrets/alpha?workspace_id=operator');
    assert.equal(refused.status, 409);
    assert.match(refused.text, /providers\.alpha\.api_key/);
    assert.equal((await call('DELETE', '/vault/secrets/alpha?workspace_id=operator&force=true')).status, 204);
  });

  // @spec vault-12
  test('seal everything anew with another master key', async (t) => {
    const { call } = await setUp(t);
    await call('PUT', '/vault/secrets/a', ok);
    const rotated = await call('POST', '/vault/rotate-master-key');
    assert.equal(rotated.status, 200, rotated.text);
    assert.partialDeepStrictEqual(rotated.body, { resealed: 1, unreadable: 0 });
    const listed = await call('GET', '/vault/secrets');
    assert.match(listed.text, /"fingerprint":"[0-9a-f]{16}"/, 'it opens');
    const fixed = await setUp(t, { env: { GATEWAY_SECRET: 'the secret of the operator' } });
    assert.equal((await fixed.call('POST', '/vault/rotate-master-key')).status, 409);
  });
});
