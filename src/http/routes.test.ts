import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, beforeEach, suite, test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { createAdministration, type Administration } from '../app/administration.ts';
import { createAuthenticator } from '../accounts/keys/authenticate.ts';
import { hashKey, labelKey } from '../accounts/keys/key-format.ts';
import { createKeys, type Keys } from '../accounts/keys/keys.ts';
import { DEFAULT_WORKSPACE_ID } from '../accounts/principal.ts';
import { createCatalog } from '../catalog/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { createAppender } from '../../tests/support/store/append.ts';
import { createKeyStore } from '../store/accounts/keys.ts';
import { sampleCharges, sampleGeneration } from '../../tests/support/store/generations.ts';
import { rewriteBasePath } from './base-path.ts';
import { MANAGEMENT_ROUTES } from './routes.ts';
import { listingOf } from '../../tests/support/management/model-listing.ts';
import { readPlugins } from '../app/read-plugins.ts';
import { servicesOf } from '../../tests/support/management/services.ts';
import { defineRoute, NO_BODY, NOTHING, type ManagementRoute } from './management/route.ts';
import { registerManagementRoutes } from './management/register-routes.ts';
import { createBodyBudget } from './body-budget.ts';

const NOW_MS = Date.parse('2026-11-25T12:00:00Z');
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
const UNKNOWN_HASH = '0'.repeat(64);

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
  readonly text: string;
}

/** Routes of faults that no real route has. */
const BROKEN = defineRoute({
  method: 'GET',
  path: '/broken',
  scope: 'public',
  operationId: 'broken',
  tag: 'Test',
  summary: 'Fails',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'Never.', schema: z.unknown() } },
  errors: [],
  handle() {
    throw new Error('the secret cause');
  },
});

function textOf(value: Json | undefined): string {
  assert.ok(typeof value === 'string');
  return value;
}

function dataOf(reply: Reply): JsonObject {
  assert.ok(isJsonObject(reply.body['data']), reply.text);
  return reply.body['data'];
}

/** A refusal in the shape of @spec error-1, whose code is its status. */
function assertRefused(reply: Reply, status: number, message: RegExp = /./): void {
  const { error } = reply.body;
  assert.ok(isJsonObject(error), reply.text);
  assert.equal(reply.status, status, reply.text);
  assert.equal(error['code'], status);
  assert.ok(typeof error['message'] === 'string');
  assert.match(error['message'], message);
}

/** What a route says it answers is what it answers. */
function assertAsDocumented(route: string, reply: Reply): void {
  const [method, path] = route.split(' ');
  const found = MANAGEMENT_ROUTES.find((known) => known.method === method && known.path === path);
  assert.ok(found !== undefined, route);
  const documented = found.responses[reply.status];
  assert.ok(documented !== undefined, `${route} does not document ${reply.status}: ${reply.text}`);
  assert.deepEqual(documented.schema.parse(reply.body), reply.body);
}

const pathOf = (route: ManagementRoute): string => route.path.replace('{hash}', UNKNOWN_HASH);

/** The status of a path that is sent as it stands, under a host that holds a path of its own. */
function statusOf(origin: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ host: hostname, port, path, headers: { host: 'localhost/v1/health#' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end();
  });
}

suite('management routes', () => {
  let database: Database;
  let generations: ReturnType<typeof createAppender>;
  let keys: Keys;
  let administration: Administration;
  let fastify: FastifyInstance;
  let origin = '';
  let managementKey = '';
  let normalKey = '';
  const logged: unknown[] = [];

  before(async () => {
    database = await openDatabase({ path: ':memory:', clock });
    generations = createAppender(database);
    const store = createKeyStore({ database });
    keys = createKeys({ store, clock });
    const catalog = createCatalog([], []);
    const onLostAudit = (): never => assert.fail('no event is lost');
    administration = createAdministration({ database, keyStore: store, catalog, clock, onLostAudit });
    const authenticate = createAuthenticator({ keys: store, clock, staticKeys: { normal: 'environment-key-1234567' } });
    fastify = Fastify({ rewriteUrl: rewriteBasePath });
    registerManagementRoutes(fastify, [...MANAGEMENT_ROUTES, BROKEN], {
      authenticate,
      services: servicesOf({ keys, readPlugins, ...administration, generations, listing: listingOf([]) }),
      bodies: createBodyBudget(100_000_000),
      log: { error: ({ err }) => logged.push(err) },
    });
    origin = await fastify.listen({ host: '127.0.0.1', port: 0 });
    managementKey = (await keys.create({ name: 'Admin', kind: 'management' })).key;
    normalKey = (await keys.create({ name: 'Caller' })).key;
  });
  after(async () => {
    await fastify.close();
    await database.close();
  });
  beforeEach(() => database.kysely.deleteFrom('keys').where('name', 'not in', ['Admin', 'Caller']).execute());

  async function call(
    method: string,
    path: string,
    body?: unknown,
    key: string | null = managementKey,
  ): Promise<Reply> {
    const response = await fetch(`${origin}/v1${path}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed: unknown = text === '' ? {} : JSON.parse(text);
    assert.ok(isJsonObject(parsed), text);
    return { status: response.status, headers: response.headers, body: parsed, text };
  }

  const create = async (body: object = {}): Promise<{ readonly key: string; readonly hash: string }> => {
    const reply = await call('POST', '/keys', { name: 'App', ...body });
    assert.equal(reply.status, 201, reply.text);
    return { key: textOf(reply.body['key']), hash: textOf(dataOf(reply)['hash']) };
  };

  suite('POST /keys', () => {
    // @spec key-1
    test('answers 201 with the record and, this once, the key', async () => {
      const reply = await call('POST', '/keys', {
        name: 'App',
        limit: 12.5,
        limit_reset: 'monthly',
        include_byok_in_limit: true,
        expires_at: '2027-01-01T00:00:00Z',
        creator_user_id: 'user-1',
        workspace_id: DEFAULT_WORKSPACE_ID,
      });
      assert.equal(reply.status, 201);
      assertAsDocumented('POST /keys', reply);
      assert.deepEqual(
        { ...dataOf(reply), hash: '', label: '' },
        {
          hash: '',
          label: '',
          name: 'App',
          disabled: false,
          disabled_reason: null,
          created_at: '2026-11-25T12:00:00.000Z',
          updated_at: null,
          expires_at: '2027-01-01T00:00:00.000Z',
          creator_user_id: 'user-1',
          external_user: null,
          issuer_key_hash: hashKey(managementKey),
          issuer_label: labelKey(managementKey),
          root_key_hash: null,
          workspace_id: DEFAULT_WORKSPACE_ID,
          limit: 12.5,
          limit_remaining: 12.5,
          limit_reset: 'monthly',
          include_byok_in_limit: true,
          default_provider_preferences: null,
          default_plugins: null,
          usage: 0,
          usage_daily: 0,
          usage_weekly: 0,
          usage_monthly: 0,
          byok_usage: 0,
          byok_usage_daily: 0,
          byok_usage_weekly: 0,
          byok_usage_monthly: 0,
        },
      );
      const own = await call('GET', '/key', undefined, textOf(reply.body['key']));
      assert.equal(own.status, 200);
      assert.equal(reply.headers.get('cache-control'), 'no-store');
    });

    // @spec key-1, key-3
    test('answers 201 for a name alone, and for nulls', async () => {
      const nulls = { limit: null, limit_reset: null, expires_at: null, creator_user_id: null };
      for (const body of [{ name: 'App' }, { name: 'App', ...nulls }]) {
        const { limit, limit_remaining, limit_reset, expires_at } = dataOf(await call('POST', '/keys', body));
        assert.deepEqual([limit, limit_remaining, limit_reset, expires_at], [null, null, null, null]);
      }
    });

    // @spec key-3
    test('responds 201 with each reset', async () => {
      for (const reset of ['daily', 'weekly', 'monthly', null]) {
        const reply = await call('POST', '/keys', { name: 'App', limit: 1, limit_reset: reset });
        assert.deepEqual([reply.status, dataOf(reply)['limit_reset']], [201, reset]);
      }
    });

    // @spec key-2
    test('answers 201 for UTC written as an offset', async () => {
      const { hash } = await create({ expires_at: '2027-01-01T00:00:00.5+00:00' });
      assert.equal((await keys.get(hash)).expiresAtMs, Date.parse('2027-01-01T00:00:00.500Z'));
    });

    const BAD: readonly (readonly [string, unknown, RegExp])[] = [
      ['no body', undefined, /body/],
      ['an empty object', {}, /name: is required/],
      ['an array', [], /body: must be an object/],
      ['text that is no JSON', '{"name":', /not valid JSON/],
      ['an empty name', { name: '' }, /^name:/],
      ['a name that is no text', { name: 7 }, /^name: must be a string/],
      ['a null name', { name: null }, /^name:/],
      ['a name of 257 characters', { name: 'x'.repeat(257) }, /^name:/],
      ['an unknown member', { name: 'App', labels: 'x' }, /labels/],
      ['a management key', { name: 'App', management: true }, /management/],
      ['a negative limit', { name: 'App', limit: -0.01 }, /^limit:/],
      ['a limit beyond exact arithmetic', { name: 'App', limit: 1e15 }, /^limit:/],
      ['a limit as text', { name: 'App', limit: '5' }, /^limit: must be a number/],
      ['an unknown reset', { name: 'App', limit_reset: 'yearly' }, /^limit_reset:.*"daily"/],
      ['an expiry that is no time', { name: 'App', expires_at: 'tomorrow' }, /^expires_at:/],
      ['an expiry that is no day', { name: 'App', expires_at: '2027-02-30T00:00:00Z' }, /^expires_at:/],
      ['an expiry at another offset', { name: 'App', expires_at: '2027-01-01T00:00:00+02:00' }, /^expires_at:.*UTC/],
      ['an expiry without an offset', { name: 'App', expires_at: '2027-01-01T00:00:00' }, /^expires_at:/],
      ['a flag as text', { name: 'App', include_byok_in_limit: 'yes' }, /^include_byok_in_limit:/],
      ['a workspace that is no id', { name: 'App', workspace_id: 'main' }, /^workspace_id:/],
      ['an unknown workspace', { name: 'App', workspace_id: '11111111-1111-4111-8111-111111111111' }, /^workspace_id:/],
      ['an empty creator', { name: 'App', creator_user_id: '' }, /^creator_user_id:/],
    ];
    for (const [what, body, message] of BAD)
      // @spec key-2
      test(`answers 400 for ${what}`, async () => assertRefused(await call('POST', '/keys', body), 400, message));

    test('answers 413 for a body of 300 KB', async () => {
      assertRefused(await call('POST', '/keys', { name: 'x'.repeat(300_000) }), 413);
    });
    // @spec auth-19
    test('answers 401 without a key before 400 and 413', async () => {
      assertRefused(await call('POST', '/keys', '{', null), 401);
      assertRefused(await call('POST', '/keys', { name: 'x'.repeat(300_000) }, null), 401);
    });
    test('answers 403 with a normal key', async () => {
      assertRefused(await call('POST', '/keys', { name: 'App' }, normalKey), 403, /management key/);
    });
  });

  suite('GET /keys', () => {
    // @spec key-4
    test('lists normal keys, without disabled ones', async () => {
      const { hash } = await create({ name: 'One' });
      const { hash: disabled } = await create({ name: 'Two' });
      await call('PATCH', `/keys/${disabled}`, { disabled: true });
      const names = async (query: string): Promise<ReadonlySet<string>> => {
        const reply = await call('GET', `/keys${query}`);
        assertAsDocumented('GET /keys', reply);
        assert.ok(Array.isArray(reply.body['data']));
        return new Set(reply.body['data'].map((key: JsonObject) => textOf(key['name'])));
      };
      assert.deepEqual(await names(''), new Set(['Caller', 'One']));
      assert.deepEqual(await names('?include_disabled=true'), new Set(['Caller', 'One', 'Two']));
      assert.deepEqual(await names('?include_disabled=false&offset=0'), new Set(['Caller', 'One']));
      assert.deepEqual(await names('?offset=2'), new Set([]));
      assert.deepEqual(await names(`?workspace_id=${DEFAULT_WORKSPACE_ID}`), new Set(['Caller', 'One']));
      assert.deepEqual(await names('?workspace_id=11111111-1111-4111-8111-111111111111'), new Set([]));
      assert.ok(!(await call('GET', '/keys')).text.includes('Admin'));
      await call('DELETE', `/keys/${hash}`);
      assert.deepEqual(await names(''), new Set(['Caller']));
    });

    // @spec key-4
    test('lists pages of 100', async () => {
      for (let index = 0; index < 102; index++) await keys.create({ name: `Key ${index}` });
      const first = await call('GET', '/keys');
      const second = await call('GET', '/keys?offset=100');
      assert.ok(Array.isArray(first.body['data']) && Array.isArray(second.body['data']));
      assert.deepEqual([first.body['data'].length, second.body['data'].length], [100, 3]);
    });

    for (const query of [
      '?offset=-1',
      '?offset=x',
      '?offset=1.5',
      '?include_disabled=maybe',
      '?workspace_id=1',
      '?page=2',
      '?offset=1&offset=2',
    ])
      test(`answers 400 for ${query}`, async () => assertRefused(await call('GET', `/keys${query}`), 400, /query/));
    test('answers 401 without a key', async () => assertRefused(await call('GET', '/keys', undefined, null), 401));
    test('answers 403 with a normal key', async () =>
      assertRefused(await call('GET', '/keys', undefined, normalKey), 403));
  });

  suite('GET /keys/{hash}', () => {
    // @spec key-8
    test('returns the key with its spending', async () => {
      const { hash } = await create({ limit: 1 });
      for (const row of [
        sampleGeneration({ id: 'gen-day', keyHash: hash, createdAtMs: NOW_MS, costNanoUsd: 250_000_000 }),
        sampleGeneration({
          id: 'gen-old',
          keyHash: hash,
          createdAtMs: NOW_MS - 90 * 86_400_000,
          costNanoUsd: 500_000_000,
        }),
      ])
        await generations.append(row, sampleCharges(row));
      const reply = await call('GET', `/keys/${hash}`);
      assertAsDocumented('GET /keys/{hash}', reply);
      const { usage, usage_daily, usage_monthly, limit_remaining } = dataOf(reply);
      assert.deepEqual([usage, usage_daily, usage_monthly, limit_remaining], [0.75, 0.25, 0.25, 0.25]);
    });
    test('answers 404 for an unknown hash, an invalid one, and a management key', async () => {
      const { record } = await keys.create({ name: 'Other', kind: 'management' });
      for (const hash of [UNKNOWN_HASH, 'x', "x'%20or%201=1", record.hash])
        assertRefused(await call('GET', `/keys/${hash}`), 404);
    });
    test('answers 401 without a key', async () =>
      assertRefused(await call('GET', `/keys/${UNKNOWN_HASH}`, undefined, null), 401));
    test('answers 403 with a normal key', async () =>
      assertRefused(await call('GET', `/keys/${UNKNOWN_HASH}`, undefined, normalKey), 403));
  });

  suite('PATCH /keys/{hash}', () => {
    // @spec key-5
    test('changes named fields and dates the change', async () => {
      const { hash } = await create({ limit: 3, limit_reset: 'daily' });
      const reply = await call('PATCH', `/keys/${hash}`, { name: 'Renamed', limit: null, limit_reset: null });
      assertAsDocumented('PATCH /keys/{hash}', reply);
      const { name, limit, limit_reset, updated_at, disabled } = dataOf(reply);
      assert.deepEqual(
        [name, limit, limit_reset, updated_at, disabled],
        ['Renamed', null, null, '2026-11-25T12:00:00.000Z', false],
      );
    });
    test('disables a key at once, and enables it again', async () => {
      const { hash, key } = await create();
      assert.equal((await call('GET', '/key', undefined, key)).status, 200);
      await call('PATCH', `/keys/${hash}`, { disabled: true });
      assertRefused(await call('GET', '/key', undefined, key), 401, /disabled/);
      await call('PATCH', `/keys/${hash}`, { disabled: false });
      assert.equal((await call('GET', '/key', undefined, key)).status, 200);
    });
    test('answers 200 for an empty change', async () => {
      const { hash } = await create();
      assert.equal(dataOf(await call('PATCH', `/keys/${hash}`, {}))['updated_at'], null);
    });
    // @spec key-5, request-14
    test('answers 400 for what cannot be changed, and names it', async () => {
      const { hash } = await create();
      for (const member of ['expires_at', 'workspace_id', 'hash', 'kind'])
        assertRefused(await call('PATCH', `/keys/${hash}`, { [member]: null }), 400, new RegExp(member));
      assertRefused(await call('PATCH', `/keys/${hash}`, { disabled: null }), 400, /^disabled:/);
      assertRefused(await call('PATCH', `/keys/${hash}`, { name: '' }), 400, /^name:/);
      assertRefused(await call('PATCH', `/keys/${hash}`), 400, /body/);
    });
    test('answers 404 for an unknown hash and a management key', async () => {
      const { record } = await keys.create({ name: 'Other', kind: 'management' });
      for (const hash of [UNKNOWN_HASH, record.hash])
        assertRefused(await call('PATCH', `/keys/${hash}`, { name: 'x' }), 404);
    });
    test('answers 401 without a key', async () =>
      assertRefused(await call('PATCH', `/keys/${UNKNOWN_HASH}`, {}, null), 401));
    test('answers 403 with a normal key', async () =>
      assertRefused(await call('PATCH', `/keys/${UNKNOWN_HASH}`, {}, normalKey), 403));
  });

  suite('DELETE /keys/{hash}', () => {
    // @spec key-6
    test('deletes a key, which stops working at once', async () => {
      const { hash, key } = await create();
      assert.equal((await call('GET', '/key', undefined, key)).status, 200);
      const reply = await call('DELETE', `/keys/${hash}`);
      assertAsDocumented('DELETE /keys/{hash}', reply);
      assertRefused(await call('GET', '/key', undefined, key), 401);
      assertRefused(await call('DELETE', `/keys/${hash}`), 404);
    });
    test('answers 200 for a client that sends an empty JSON body', async () => {
      const { hash } = await create();
      assert.equal((await call('DELETE', `/keys/${hash}`, '')).status, 200);
    });
    test('answers 404 for an unknown hash and a management key', async () => {
      const { record } = await keys.create({ name: 'Other', kind: 'management' });
      for (const hash of [UNKNOWN_HASH, record.hash]) assertRefused(await call('DELETE', `/keys/${hash}`), 404);
    });
    test('answers 401 without a key', async () =>
      assertRefused(await call('DELETE', `/keys/${UNKNOWN_HASH}`, undefined, null), 401));
    test('answers 403 with a normal key', async () =>
      assertRefused(await call('DELETE', `/keys/${UNKNOWN_HASH}`, undefined, normalKey), 403));
  });

  suite('GET /key', () => {
    // @spec auth-7, key-11
    test('answers 200 for a key of either kind, and for one from the environment', async () => {
      for (const [key, isManagement] of [
        [managementKey, true],
        [normalKey, false],
        ['environment-key-1234567', false],
      ] as const) {
        const reply = await call('GET', '/key', undefined, key);
        assertAsDocumented('GET /key', reply);
        const { is_management_key, is_provisioning_key, rate_limit } = dataOf(reply);
        assert.deepEqual([is_management_key, is_provisioning_key], [isManagement, isManagement]);
        assert.ok(isJsonObject(rate_limit));
        assert.equal(rate_limit['requests'], -1);
      }
    });
    test('answers 200 with x-api-key', async () => {
      const response = await fetch(`${origin}/v1/key`, { headers: { 'x-api-key': normalKey } });
      assert.equal(response.status, 200);
    });
    test('answers 401 without a key, and says what to send', async () => {
      const reply = await call('GET', '/key', undefined, null);
      assertRefused(reply, 401, /Authorization: Bearer/);
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer');
    });
    test('answers 400 for a query parameter', async () =>
      assertRefused(await call('GET', '/key?verbose=1'), 400, /verbose/));
  });

  suite('GET /generation', () => {
    // @spec auth-7
    test('returns the record to a key of either kind', async () => {
      await generations.append(sampleGeneration({ id: 'gen-known', costNanoUsd: 1_250 }));
      for (const key of [normalKey, managementKey]) {
        const reply = await call('GET', '/generation?id=gen-known', undefined, key);
        assertAsDocumented('GET /generation', reply);
        const { id, total_cost, usage, provider_name, provider_responses, streamed, time_to_first_token } =
          dataOf(reply);
        assert.deepEqual(
          [id, total_cost, usage, provider_name, streamed, time_to_first_token],
          ['gen-known', 0.000_001_25, 0.000_001_25, 'Alpha', true, 202],
        );
        assert.deepEqual(provider_responses, [
          {
            provider_name: 'beta',
            tag: 'beta',
            model_permaslug: 'one-beta',
            status: null,
            latency: 31,
            is_byok: false,
          },
          {
            provider_name: 'Alpha',
            tag: 'alpha',
            model_permaslug: 'one-2026',
            status: 200,
            latency: 32,
            is_byok: false,
          },
        ]);
      }
    });
    // @spec generation-4
    test('returns null, not zero, for an unknown price', async () => {
      await generations.append(sampleGeneration({ id: 'gen-priceless', costNanoUsd: null }));
      assert.equal(dataOf(await call('GET', '/generation?id=gen-priceless'))['total_cost'], null);
    });
    test('answers 404 for an unknown id', async () => assertRefused(await call('GET', '/generation?id=gen-x'), 404));
    test('answers 400 without an id', async () => {
      assertRefused(await call('GET', '/generation'), 400, /query\.id: is required/);
      assertRefused(await call('GET', '/generation?id='), 400, /query\.id/);
    });
    test('answers 401 without a key', async () =>
      assertRefused(await call('GET', '/generation?id=x', undefined, null), 401));
  });

  suite('the route table', () => {
    for (const prefix of ['/v1', '/api/v1'])
      for (const route of MANAGEMENT_ROUTES) {
        const url = (): string => `${origin}${prefix}${pathOf(route)}`;
        const name = `${route.method} ${prefix}${route.path}`;
        const { method } = route;
        if (route.scope !== 'public')
          test(`answers 401 for ${name} without a key`, async () =>
            assert.equal((await fetch(url(), { method })).status, 401));
        if (route.scope === 'management')
          test(`answers 403 for ${name} with a normal key`, async () => {
            const response = await fetch(url(), { method, headers: { authorization: `Bearer ${normalKey}` } });
            assert.equal(response.status, 403);
          });
      }

    test('has unique operation ids and paths', () => {
      const ids = MANAGEMENT_ROUTES.map(({ operationId }) => operationId);
      const places = MANAGEMENT_ROUTES.map(({ method, path }) => `${method} ${path}`);
      assert.equal(new Set(ids).size, ids.length);
      assert.equal(new Set(places).size, places.length);
    });

    test('refuses to register a route without a scope', () => {
      const route = { ...BROKEN };
      Reflect.deleteProperty(route, 'scope');
      assert.throws(
        () =>
          registerManagementRoutes(Fastify(), [route], {
            authenticate: () => assert.fail('never asked'),
            services: servicesOf({ keys, readPlugins, generations, listing: listingOf([]) }),
            bodies: createBodyBudget(100_000_000),
            log: { error: () => undefined },
          }),
        /has a scope/,
      );
    });

    // @spec auth-9
    test('requires a key for HEAD as for GET', async () => {
      assert.equal((await fetch(`${origin}/v1/keys`, { method: 'HEAD' })).status, 401);
    });

    for (const path of [
      '//v1/keys',
      '/v1//keys',
      '/v1/%2e%2e/v1/keys',
      '/v1/keys/',
      '/V1/keys',
      '/v1/keys;x',
      `http://localhost/v1/keys`,
    ])
      test(`keeps ${path} closed with a hostile host`, async () => {
        const status = await statusOf(origin, path);
        assert.ok(status === 401 || status === 404, String(status));
      });
  });

  test('returns no hash of another key, and no key except in the response that makes it', async () => {
    const { hash } = await create();
    for (const path of ['/keys', `/keys/${hash}`, '/key']) {
      const { text } = await call('GET', path);
      assert.ok(!text.includes(managementKey) && !text.includes(normalKey));
    }
  });

  test('answers 500 with a fixed text for a bug, and logs its cause', async () => {
    const reply = await call('GET', '/broken', undefined, null);
    assertRefused(reply, 500);
    assert.ok(!reply.text.includes('secret cause'));
    assert.match(String(logged.at(-1)), /the secret cause/);
  });
});
