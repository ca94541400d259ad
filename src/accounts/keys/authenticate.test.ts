import assert from 'node:assert/strict';
import { after, before, beforeEach, mock, suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { array, assert as assertProperty, asyncProperty, constant, constantFrom, oneof, string } from 'fast-check';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { openDatabase, type Database } from '../../store/engine/database.ts';
import { createKeyStore, type KeyStore } from '../../store/accounts/keys.ts';
import { createAuthenticator, requireKind, type Authenticate, type AuthenticatorDeps } from './authenticate.ts';
import { hashKey } from './key-format.ts';
import { createKeys, type Keys, type NewKey } from './keys.ts';
import { DEFAULT_WORKSPACE_ID, type Principal } from '../principal.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';

let wallMs = Date.parse('2026-11-25T12:00:00Z');
let monotonicMs = 0;
const clock = { nowMs: () => wallMs, monotonicMs: () => monotonicMs };
const pass = (ms: number): void => {
  wallMs += ms;
  monotonicMs += ms;
};

const BEARER = { allowApiKeyHeader: false } as const;
const EITHER = { allowApiKeyHeader: true } as const;

type Headers = Parameters<Authenticate>[0];
const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });

/** Returns the result or the error, whether it comes at once or later. */
async function outcome(run: () => Principal | Promise<Principal>): Promise<Principal | GatewayError> {
  try {
    return await run();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
}

async function refusal(run: () => Principal | Promise<Principal>): Promise<GatewayError> {
  const error = await outcome(run);
  assert.ok(error instanceof GatewayError, 'it was let in');
  return error;
}

async function assert401(run: () => Principal | Promise<Principal>): Promise<GatewayError> {
  const error = await refusal(run);
  assert.deepEqual([error.status, error.type], [401, 'authentication']);
  return error;
}

suite('authentication', () => {
  let database: Database;
  let store: KeyStore;
  let keys: Keys;
  let lookups: string[] = [];
  let authenticate: Authenticate;

  before(async () => {
    database = await openDatabase({ path: ':memory:', clock });
  });
  after(() => database.close());
  beforeEach(async () => {
    await database.kysely.deleteFrom('keys').execute();
    store = createKeyStore({ database });
    keys = createKeys({ store, clock });
    authenticate = build();
  });

  /** Makes an authenticator whose look-ups are counted. */
  function build(deps: Partial<AuthenticatorDeps> = {}): Authenticate {
    lookups = [];
    const counted: AuthenticatorDeps['keys'] = {
      find(hash) {
        lookups.push(hash);
        return store.find(hash);
      },
      subscribe: (listener) => store.subscribe(listener),
    };
    return createAuthenticator({ keys: counted, clock, staticKeys: {}, ...deps });
  }

  const create = async (newKey: Partial<NewKey> = {}) => keys.create({ name: 'App', ...newKey });

  // @spec auth-1
  test('accepts a bearer header in any case of its scheme', async () => {
    const { key, record } = await create();
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) {
      const principal = await authenticate({ authorization: `${scheme} ${key}` }, BEARER);
      assert.deepEqual(principal, {
        kind: 'normal',
        keyHash: record.hash,
        accountId: 'default',
        workspaceId: DEFAULT_WORKSPACE_ID,
        memberId: null,
        name: 'App',
        label: record.label,
      });
    }
  });

  // @spec auth-2
  test('accepts x-api-key where it is allowed and Authorization is absent', async () => {
    const { key, record } = await create();
    assert.equal((await authenticate({ 'x-api-key': key }, EITHER)).keyHash, record.hash);
    await assert401(() => authenticate({ 'x-api-key': key }, BEARER));
    await assert401(() => authenticate({ authorization: 'Basic eA==', 'x-api-key': key }, EITHER));
    const azure = { ...BEARER, allowAzureHeader: true };
    assert.equal((await authenticate({ 'api-key': key }, azure)).keyHash, record.hash);
    await assert401(() => authenticate({ 'api-key': key }, EITHER));
  });

  // @spec auth-4
  test('says what to send when a request has no key', async () => {
    const error = await assert401(() => authenticate({}, EITHER));
    assert.match(error.message, /Authorization: Bearer <API_KEY>/);
  });

  test('answers for a key at once that was seen a moment ago, without a look-up', async () => {
    const { key } = await create();
    await authenticate(bearer(key), BEARER);
    assert.equal(lookups.length, 1);
    assert.ok(!(authenticate(bearer(key), BEARER) instanceof Promise));
    assert.equal(lookups.length, 1);
  });

  test('shares one look-up between concurrent requests', async () => {
    const { key } = await create();
    await Promise.all(Array.from({ length: 20 }, async () => authenticate(bearer(key), BEARER)));
    assert.equal(lookups.length, 1);
  });

  // @spec auth-4
  test('answers 401 for a disabled, an expired and a deleted key', async () => {
    const [disabled, expired, deleted] = [await create(), await create({ expiresAtMs: wallMs + 100 }), await create()];
    await keys.update(disabled.record.hash, { disabled: true });
    await keys.delete(deleted.record.hash);
    await authenticate(bearer(expired.key), BEARER);
    pass(100);
    assert.match((await assert401(() => authenticate(bearer(disabled.key), BEARER))).message, /disabled/);
    assert.match((await assert401(() => authenticate(bearer(expired.key), BEARER))).message, /expired/);
    assert.match((await assert401(() => authenticate(bearer(deleted.key), BEARER))).message, /not valid/);
  });

  // @spec auth-14
  test('applies a change by this process at once', async () => {
    const { key, record } = await create();
    await authenticate(bearer(key), BEARER);
    await keys.update(record.hash, { disabled: true });
    await assert401(() => authenticate(bearer(key), BEARER));
    await keys.update(record.hash, { disabled: false });
    await authenticate(bearer(key), BEARER);
    await keys.delete(record.hash);
    await assert401(() => authenticate(bearer(key), BEARER));
  });

  test('does not keep the old state when a key changes while it is being read', async () => {
    const { key, record } = await create();
    const found = await store.find(record.hash);
    const slow = Promise.withResolvers<typeof found>();
    let first = true;
    authenticate = createAuthenticator({
      keys: {
        find: (hash) => (first ? slow.promise : store.find(hash)),
        subscribe: (listener) => store.subscribe(listener),
      },
      clock,
      staticKeys: {},
    });
    const early = authenticate(bearer(key), BEARER);
    first = false;
    await keys.update(record.hash, { disabled: true });
    slow.resolve(found);
    await early;
    await assert401(() => authenticate(bearer(key), BEARER));
  });

  // @spec auth-14
  test('applies a change by another process within five seconds', async () => {
    const { key, record } = await create();
    await authenticate(bearer(key), BEARER);
    await createKeyStore({ database }).update(record.hash, { disabled: true, updatedAtMs: 1 });
    pass(2_000);
    await authenticate(bearer(key), BEARER);
    pass(3_000);
    await assert401(() => authenticate(bearer(key), BEARER));
  });

  test('reads a key in use again ahead of time, so that no request waits', async () => {
    const { key } = await create();
    await authenticate(bearer(key), BEARER);
    for (let round = 2; round <= 5; round++) {
      pass(3_000);
      assert.ok(!(authenticate(bearer(key), BEARER) instanceof Promise));
      assert.equal(lookups.length, round);
      await database.ping();
      await database.ping();
    }
  });

  // @spec auth-15
  test('looks up an unknown key once in 30 seconds, however often it comes', async () => {
    for (let round = 0; round < 50; round++) await assert401(() => authenticate(bearer('mgw-unknown'), BEARER));
    assert.equal(lookups.length, 1);
    pass(29_999);
    await assert401(() => authenticate(bearer('mgw-unknown'), BEARER));
    assert.equal(lookups.length, 1);
    pass(1);
    await assert401(() => authenticate(bearer('mgw-unknown'), BEARER));
    assert.equal(lookups.length, 2);
  });

  // @spec auth-17
  test('keeps a key in use through a flood of unknown keys', async () => {
    const { key } = await create();
    await authenticate(bearer(key), BEARER);
    authenticate = createAuthenticator({
      keys: {
        find: async (hash) => (hash === hashKey(key) ? store.find(hash) : undefined),
        subscribe: (listener) => store.subscribe(listener),
      },
      clock,
      staticKeys: {},
    });
    await authenticate(bearer(key), BEARER);
    for (let index = 0; index < 12_000; index++) await outcome(() => authenticate(bearer(`mgw-${index}`), BEARER));
    assert.ok(!(authenticate(bearer(key), BEARER) instanceof Promise));
  });

  // @spec auth-17
  test('accepts a valid key while a flood of unknown keys keeps the database busy', async () => {
    const { key } = await create();
    let busy = false;
    authenticate = createAuthenticator({
      keys: {
        find: (hash) => (busy ? new Promise(() => undefined) : store.find(hash)),
        subscribe: (listener) => store.subscribe(listener),
      },
      clock,
      staticKeys: {},
    });
    await authenticate(bearer(key), BEARER);
    busy = true;
    mock.timers.enable({ apis: ['setTimeout'] });
    const flood = Array.from({ length: 5_000 }, (_, index) =>
      refusal(() => authenticate(bearer(`mgw-${index}`), BEARER)),
    );
    pass(6_000);
    const principal = await outcome(() => authenticate(bearer(key), BEARER));
    passLimit();
    mock.timers.reset();
    assert.ok(!(principal instanceof GatewayError), 'it was refused');
    assert.deepEqual(new Set((await Promise.all(flood)).map(({ status }) => status)), new Set([503]));
  });

  // @spec auth-12
  test('distinguishes keys with a common prefix', async () => {
    const { key } = await create();
    await authenticate(bearer(key), BEARER);
    await assert401(() => authenticate(bearer(`${key.slice(0, -1)}!`), BEARER));
    await assert401(() => authenticate(bearer(`${key}x`), BEARER));
    await assert401(() => authenticate(bearer(key.slice(0, 20)), BEARER));
  });

  // @spec auth-10
  test('refuses the hash of a key as a key', async () => {
    const { record } = await create();
    await assert401(() => authenticate(bearer(record.hash), BEARER));
  });

  // @spec auth-16
  test('accepts a known key while the database is away, and answers 503 for an unknown one', async () => {
    const { key } = await create();
    let away = false;
    authenticate = createAuthenticator({
      keys: {
        find: (hash) => (away ? Promise.reject(new Error('away')) : store.find(hash)),
        subscribe: (listener) => store.subscribe(listener),
      },
      clock,
      staticKeys: {},
    });
    await authenticate(bearer(key), BEARER);
    away = true;
    for (let minute = 0; minute < 10; minute++) {
      pass(59_000);
      await authenticate(bearer(key), BEARER);
    }
    const error = await refusal(() => authenticate(bearer('mgw-other'), BEARER));
    assert.deepEqual([error.status, error.retryAfterMs], [503, 1_000]);
    pass(60_000);
    assert.equal((await refusal(() => authenticate(bearer(key), BEARER))).status, 503);
    away = false;
    await authenticate(bearer(key), BEARER);
  });

  test('lets a silent database delay a request for a second at most', async () => {
    authenticate = createAuthenticator({
      keys: { find: () => new Promise(() => undefined), subscribe: (listener) => store.subscribe(listener) },
      clock,
      staticKeys: {},
    });
    mock.timers.enable({ apis: ['setTimeout'] });
    const requested = refusal(() => authenticate(bearer('mgw-any'), BEARER));
    passLimit();
    mock.timers.reset();
    assert.equal((await requested).status, 503);
  });

  // @spec auth-13
  test('accepts keys from the environment, each as its kind, without a look-up', async () => {
    authenticate = build({ staticKeys: { management: 'own-management-key', normal: 'own-key' } });
    const [admin, app] = [authenticate(bearer('own-management-key'), BEARER), authenticate(bearer('own-key'), BEARER)];
    assert.ok(!(admin instanceof Promise) && !(app instanceof Promise));
    assert.deepEqual([admin.kind, app.kind], ['management', 'normal']);
    assert.deepEqual(lookups, []);
  });

  test('refuses keys from the environment at the start that could not work', () => {
    assert.throws(() => build({ staticKeys: { management: 'same', normal: 'same' } }), /must not be the same/);
    assert.throws(() => build({ staticKeys: { normal: 'with blank' } }), /GATEWAY_API_KEY must be/);
    assert.throws(() => build({ staticKeys: { management: '' } }), /GATEWAY_MANAGEMENT_KEY must be/);
  });

  const MALFORMED: readonly (readonly [string, Headers])[] = [
    ['an empty header', { authorization: '' }],
    ['a scheme alone', { authorization: 'Bearer' }],
    ['a scheme and a blank', { authorization: 'Bearer ' }],
    ['a key without a scheme', { authorization: 'mgw-abc' }],
    ['another scheme', { authorization: 'Basic bWd3OmFiYw==' }],
    ['two schemes', { authorization: 'Bearer mgw-a, Basic bWd3OmFiYw==' }],
    ['a scheme twice', { authorization: 'Bearer Bearer mgw-abc' }],
    ['64 KB', bearer('x'.repeat(65_536))],
    ['513 characters', bearer('x'.repeat(513))],
    ['a NUL', bearer('mgw-abc\u0000def')],
    ['a line end', bearer('mgw-abc\r\nx-admin:1')],
    ['letters beyond ASCII', bearer('mgw-schlüssel')],
    ['SQL with blanks', bearer("sk-x' UNION SELECT hash FROM keys --")],
    ['an array', { authorization: ['Bearer mgw-a', 'Bearer mgw-b'] }],
    ['an array of keys', { 'x-api-key': ['mgw-a', 'mgw-b'] }],
    ['an empty x-api-key', { 'x-api-key': '' }],
  ];
  for (const [what, headers] of MALFORMED)
    test(`answers 401 for ${what} without a query`, async () => {
      const posts = mock.method(Worker.prototype, 'postMessage');
      await assert401(() => authenticate(headers, EITHER));
      posts.mock.restore();
      assert.equal(posts.mock.callCount(), 0);
    });

  const HOSTILE = [
    "sk-x'UNION/**/SELECT/**/hash/**/FROM/**/keys--",
    "';DROP/**/TABLE/**/keys;--",
    '"or"1"="1',
    '%_%',
    '${jndi:ldap://x}',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    '{"hash":{"$ne":null}}',
    '[object',
    'x'.repeat(512),
  ];
  for (const value of HOSTILE)
    test(`answers 401 for ${value.slice(0, 40)}, and shows the database only its digest, as a bound value`, async () => {
      const posts = mock.method(Worker.prototype, 'postMessage');
      await assert401(() => authenticate(bearer(value), EITHER));
      const sent = posts.mock.calls.map((call) => call.arguments[0]);
      posts.mock.restore();
      assert.equal(sent.length, 1);
      assert.ok(!JSON.stringify(sent).includes(JSON.stringify(value).slice(1, -1)));
      assert.deepEqual(sent[0].jobs[0].values[0], hashKey(value));
      assert.ok(!sent[0].jobs[0].sql.includes(hashKey(value)));
    });

  test('answers 401 whatever the headers hold', async () => {
    const value = oneof(string({ unit: 'binary' }), string(), array(string()), constant(undefined));
    const scheme = constantFrom('', 'Bearer ', 'bearer', 'Basic ');
    await assertProperty(
      asyncProperty(value, value, scheme, async (one, other, prefix) => {
        const authorization = typeof one === 'string' ? prefix + one : one;
        await assert401(() => authenticate({ authorization, 'x-api-key': other }, EITHER));
      }),
      { numRuns: 300 },
    );
  });
});

const is403 = (error: unknown): boolean =>
  error instanceof GatewayError && error.status === 403 && error.type === 'permission_denied';

// @spec auth-6
test('answers 403 for a key of the other kind', () => {
  const principal = samplePrincipal();
  requireKind(principal, 'normal');
  requireKind({ ...principal, kind: 'management' }, 'management');
  assert.throws(() => requireKind(principal, 'management'), is403);
  assert.throws(() => requireKind({ ...principal, kind: 'management' }, 'normal'), is403);
});

/** Lets a count of the limit pass in parts. */
function passLimit(): void {
  for (let part = 0; part < 10; part++) mock.timers.tick(100);
}
