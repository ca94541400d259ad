import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { ENGINES, type TestEngine } from '../support/store/engines.ts';
import { redis, useRedis } from '../support/services/redis.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

/*
 * Keys that normal keys issue: off by default, listed with their issuer, within its limits, and deleted with it on
 * request. @spec key-18, key-21
 */

const CALLBACK = 'https://app.example/done';
const REQUEST = { model: 'acme/one', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

interface Key {
  readonly key: string;
  readonly hash: string;
}

interface SetUp {
  readonly engine: TestEngine;
  readonly more?: string;
}

async function setUp(t: TestContext, { engine, more = '' }: SetUp): Promise<RunningGateway> {
  const upstream = await startUpstream(json(200, chatAnswer('ok')));
  t.after(() => upstream.close());
  const place = await engine.makePlace();
  t.after(() => place.remove());
  const shared = engine.isPostgres && redis !== undefined ? useRedis(t) : undefined;
  const gateway = await startGateway({
    yaml: `
oauth: { normal_keys: true }
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 10, completion: 10 } }]
${more}`,
    env: {
      ...(place.url !== undefined && { DATABASE_URL: place.url, GATEWAY_SECRET: 'a secret of this test' }),
      ...(shared !== undefined && { REDIS_URL: shared.url, REDIS_PREFIX: shared.prefix.slice(1, -2) }),
    },
  });
  t.after(() => gateway.close());
  return gateway;
}

async function makeKey(gateway: RunningGateway, more: object = {}): Promise<Key> {
  const { status, body, text } = await manage(gateway, 'POST', '/keys', { name: 'Root', ...more });
  assert.equal(status, 201, text);
  assert.ok(isJsonObject(body['data']));
  return { key: textAt(body, 'key'), hash: textAt(body['data'], 'hash') };
}

/** A key that this one issues by a code. */
async function issueKey(gateway: RunningGateway, issuer: string, name: string): Promise<Key> {
  const wanted = { callback_url: CALLBACK, key_label: name };
  const code = await manage(gateway, 'POST', '/auth/keys/code', wanted, issuer);
  assert.equal(code.status, 200, code.text);
  assert.ok(isJsonObject(code.body['data']));
  const response = await fetch(`${gateway.baseUrl}/auth/keys`, {
    method: 'POST',
    body: JSON.stringify({ code: textAt(code.body['data'], 'id') }),
  });
  const answer: unknown = await response.json();
  assert.ok(response.status === 200 && isJsonObject(answer), JSON.stringify(answer));
  const record = (await listKeys(gateway)).find((one) => one['name'] === name);
  assert.ok(record !== undefined);
  return { key: textAt(answer, 'key'), hash: textAt(record, 'hash') };
}

async function listKeys(gateway: RunningGateway, query = ''): Promise<readonly JsonObject[]> {
  const { body } = await manage(gateway, 'GET', `/keys?include_disabled=true${query}`);
  assert.ok(Array.isArray(body['data']));
  return body['data'].filter(isJsonObject);
}

async function ask(gateway: RunningGateway, { key }: Key): Promise<number> {
  const response = await gateway.post('/chat/completions', REQUEST, { authorization: `Bearer ${key}` });
  await response.arrayBuffer();
  return response.status;
}

// @spec key-18
test('issues no key with a normal key unless the configuration allows it, and names the setting', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const { key } = await makeKey(gateway);
  for (const issuer of [API_KEY, key]) {
    const { status, text } = await manage(gateway, 'POST', '/auth/keys/code', { callback_url: CALLBACK }, issuer);
    assert.equal(status, 403, text);
    assert.match(text, /oauth: \{ normal_keys: true \}/);
  }
  const byManager = await manage(gateway, 'POST', '/auth/keys/code', { callback_url: CALLBACK }, MANAGEMENT_KEY);
  assert.equal(byManager.status, 200, byManager.text);
});

for (const engine of ENGINES)
  suite(`issued keys: ${engine.name}`, () => {
    // @spec key-21
    test('are listed with their issuer and root, and found by the issuer after its deletion', async (t) => {
      const gateway = await setUp(t, { engine });
      const root = await makeKey(gateway);
      const child = await issueKey(gateway, root.key, 'Child');
      const grandchild = await issueKey(gateway, child.key, 'Grandchild');
      const managed = await issueKey(gateway, MANAGEMENT_KEY, 'Managed');
      const factsOf = async ({ hash }: Key) => {
        const { body } = await manage(gateway, 'GET', `/keys/${hash}`);
        assert.ok(isJsonObject(body['data']));
        return [body['data']['issuer_key_hash'], body['data']['root_key_hash']];
      };
      assert.deepEqual(await factsOf(child), [root.hash, root.hash]);
      assert.deepEqual(await factsOf(grandchild), [child.hash, root.hash]);
      const [manager, none] = await factsOf(managed);
      assert.ok(typeof manager === 'string' && none === null);
      assert.deepEqual(await factsOf(root), [manager, null], 'made by the same management key');
      await manage(gateway, 'DELETE', `/keys/${root.hash}`);
      const issued = await listKeys(gateway, `&issuer_key_hash=${root.hash}`);
      assert.deepEqual(
        issued.map(({ hash }) => hash),
        [child.hash],
      );
      assert.match(textAt(issued[0] ?? {}, 'issuer_label'), /\.\.\./);
      assert.equal(await ask(gateway, grandchild), 200, 'without cascade they go on');
    });

    // @spec key-22
    test('are deleted or disabled with their issuer on request', async (t) => {
      const gateway = await setUp(t, { engine });
      const [root, other] = [await makeKey(gateway), await makeKey(gateway)];
      const child = await issueKey(gateway, root.key, 'Child');
      const grandchild = await issueKey(gateway, child.key, 'Grandchild');
      const kept = await issueKey(gateway, other.key, 'Kept');
      const alone = await manage(gateway, 'PATCH', `/keys/${root.hash}`, { cascade: true });
      assert.equal(alone.status, 400, 'nothing to cascade');
      const disabled = await manage(gateway, 'PATCH', `/keys/${root.hash}`, { disabled: true, cascade: true });
      assert.equal(disabled.status, 200, disabled.text);
      assert.deepEqual(await Promise.all([root, child, grandchild].map((key) => ask(gateway, key))), [401, 401, 401]);
      await manage(gateway, 'PATCH', `/keys/${child.hash}`, { disabled: false });
      assert.equal(await ask(gateway, child), 200);
      const deleted = await manage(gateway, 'DELETE', `/keys/${root.hash}?cascade=true`);
      assert.deepEqual(deleted.body, { deleted: true, cascaded: 2 });
      assert.deepEqual(await Promise.all([root, child, grandchild].map((key) => ask(gateway, key))), [401, 401, 401]);
      assert.equal(await ask(gateway, kept), 200);
      const { text } = await manage(gateway, 'GET', '/audit');
      assert.ok(text.includes(`/keys/${grandchild.hash}`), 'each has its event');
    });

    // @spec key-21
    test('count against the limit of their root, whose rest they report', async (t) => {
      const gateway = await setUp(t, { engine });
      const root = await makeKey(gateway);
      const child = await issueKey(gateway, root.key, 'Child');
      const grandchild = await issueKey(gateway, child.key, 'Grandchild');
      assert.deepEqual([await ask(gateway, grandchild), await ask(gateway, root)], [200, 200]);
      const usageOf = async ({ hash }: Key, member: string): Promise<number> => {
        const { body } = await manage(gateway, 'GET', `/keys/${hash}`);
        return Number(isJsonObject(body['data']) ? body['data'][member] : undefined);
      };
      const each = await usageOf(root, 'usage');
      assert.ok(each > 0 && each === (await usageOf(grandchild, 'usage')));
      await manage(gateway, 'PATCH', `/keys/${root.hash}`, { limit: each * 10 });
      const left = await usageOf(root, 'limit_remaining');
      assert.ok(Math.abs(left - each * 8) < each / 100, `${left} of ${each * 10}`);
      await manage(gateway, 'PATCH', `/keys/${root.hash}`, { limit: each * 2 });
      for (const key of [grandchild, child, root]) assert.equal(await ask(gateway, key), 402);
      const refused = await gateway.post('/chat/completions', REQUEST, { authorization: `Bearer ${child.key}` });
      assert.match(await refused.text(), /The key that issued this API key has nothing left/);
      await manage(gateway, 'DELETE', `/keys/${root.hash}`);
      assert.equal(await ask(gateway, child), 402, 'a deleted issuer leaves its limit');
    });

    test('share the guardrail of their root', async (t) => {
      const gateway = await setUp(t, { engine });
      const root = await makeKey(gateway);
      const child = await issueKey(gateway, root.key, 'Child');
      assert.equal(await ask(gateway, child), 200);
      const { body } = await manage(gateway, 'POST', '/guardrails', { name: 'Rules', ignored_providers: ['alpha'] });
      assert.ok(isJsonObject(body['data']));
      const path = `/guardrails/${textAt(body['data'], 'id')}/assignments/keys`;
      await manage(gateway, 'POST', path, { key_hashes: [root.hash] });
      assert.deepEqual([await ask(gateway, root), await ask(gateway, child)], [403, 403]);
    });

    // @spec rate-10
    test('share the rate limit of their root', async (t) => {
      const more = 'rate_limits: { key: { requests_per_minute: 4 } }';
      const gateway = await setUp(t, { engine, more });
      const [root, other] = [await makeKey(gateway), await makeKey(gateway)];
      const child = await issueKey(gateway, root.key, 'Child');
      const statuses: number[] = [];
      for (const key of [root, child, child, root, child, root]) statuses.push(await ask(gateway, key));
      assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429]);
      assert.equal(await ask(gateway, other), 200);
    });
  });
