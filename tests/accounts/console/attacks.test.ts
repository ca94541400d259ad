import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject } from '../../../src/lib/json.ts';
import { textAt } from '../../support/byok.ts';
import { callRaw, postSession, SAME_ORIGIN, signIn, type SignedIn } from '../../support/http/console-client.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';

/** Signing in takes a place of the five tries only where it fails, so one gateway serves them all. */
suite('an attack on a session', () => {
  let gateway: RunningGateway;
  let session: SignedIn;
  before(async () => {
    gateway = await startGateway();
    session = await signIn(gateway);
  });
  after(() => gateway.close());

  // @spec console-6
  test('fails with the cookie alone, the token alone, and halves of two sessions', async () => {
    const other = await signIn(gateway, { key: API_KEY });
    const { cookie, token } = session;
    const halves = [
      { cookie },
      { 'x-console-token': token },
      { cookie, 'x-console-token': other.token },
      { cookie: other.cookie, 'x-console-token': token },
      { cookie, 'x-console-token': `${token}x` },
      { cookie: `${cookie}x`, 'x-console-token': token },
      { 'x-console-token': cookie.split('=')[1] ?? '', cookie: `gateway_session=${token}` },
      { authorization: `Bearer ${MANAGEMENT_KEY}` },
    ];
    for (const headers of halves)
      for (const path of ['/ui/api/session', '/ui/api/sessions', '/ui/api/v1/keys', '/ui/api/v1/models'])
        assert.equal((await callRaw(gateway, 'GET', path, { ...SAME_ORIGIN, ...headers })).status, 401, path);
    assert.equal((await session.call('GET', '/ui/api/session')).status, 200);
  });

  // @spec console-9
  test('gains nothing on /v1 from the cookie and the token', async () => {
    for (const [method, path] of [
      ['GET', '/v1/keys'],
      ['GET', '/v1/key'],
      ['POST', '/v1/chat/completions'],
      ['POST', '/api/v1/route/explain'],
    ] as const)
      assert.equal((await session.call(method, path, method === 'POST' ? {} : undefined)).status, 401, path);
  });

  // @spec console-10
  test('fails from a page on another port, from another site, and from a page that says no origin', async () => {
    const { cookie, token } = session;
    const origin = 'http://127.0.0.1:1';
    const both = { cookie, 'x-console-token': token };
    const from = [
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
      { origin },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'file://' },
      { 'sec-fetch-site': 'same-site', origin: gateway.url },
      {},
    ];
    for (const headers of from) {
      const said = JSON.stringify(headers);
      assert.equal((await callRaw(gateway, 'GET', '/ui/api/v1/keys', { ...both, ...headers })).status, 403, said);
      const change = { ...both, ...headers, 'content-type': 'application/json' };
      assert.equal((await callRaw(gateway, 'POST', '/ui/api/v1/keys', change, '{"name":"x"}')).status, 403, said);
      assert.equal((await postSession(gateway, { key: MANAGEMENT_KEY }, headers)).status, 403, said);
    }
    assert.equal((await callRaw(gateway, 'GET', '/ui/api/session', { ...both, origin: gateway.url })).status, 200);
  });

  // @spec console-8
  test('gets no leave from a preflight, and no answer that another origin could read', async () => {
    const asks = { origin: 'https://evil.example', 'access-control-request-headers': 'x-console-token' };
    for (const path of ['/ui/api/session', '/ui/api/v1/keys', '/ui/']) {
      const { status, headers } = await callRaw(gateway, 'OPTIONS', path, asks);
      assert.ok(status >= 400, path);
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('access-control')),
        [],
        path,
      );
    }
    const seen = [
      await session.call('GET', '/ui/api/v1/keys'),
      await session.call('GET', '/ui/api/v1/models'),
      await session.call('GET', '/ui/api/v1/nothing'),
      await session.call('POST', '/ui/api/v1/chat/completions', {}),
      await session.call('POST', '/ui/api/v1/keys', { wrong: 1 }),
    ];
    for (const { headers } of seen) {
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('access-control')),
        [],
      );
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    }
  });

  // @spec console-10
  test('fails under a foreign host name that leads to this address', async () => {
    const { cookie, token } = session;
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1', 'a b']) {
      const headers = { ...SAME_ORIGIN, cookie, 'x-console-token': token, host };
      for (const path of ['/ui/api/session', '/ui/api/v1/keys', '/ui/', '/'])
        assert.equal((await callRaw(gateway, 'GET', path, headers)).status, 403, `${host} ${path}`);
    }
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:8787', 'LOCALHOST', 'console.localhost:80'])
      assert.equal(
        (await callRaw(gateway, 'GET', '/ui/api/session', { ...SAME_ORIGIN, cookie, 'x-console-token': token, host }))
          .status,
        200,
        host,
      );
  });

  // @spec console-6
  test('cannot plant a session: the sign-in makes secrets of its own and ends the one that was there', async () => {
    const planted = await signIn(gateway, { key: API_KEY });
    const { body, headers } = await postSession(gateway, { key: MANAGEMENT_KEY }, planted.headers);
    const { data } = body;
    assert.ok(isJsonObject(data));
    assert.notEqual(data['token'], planted.token);
    assert.equal(headers['set-cookie']?.[0]?.includes(planted.cookie), false);
    assert.equal((await planted.call('GET', '/ui/api/session')).status, 401);
  });

  test('cannot post what a form of another page can send', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      const { status } = await session.call('POST', '/ui/api/v1/keys', { name: 'x' }, { 'content-type': type });
      assert.equal(status, 400, type);
    }
  });

  test('reads no secret of a session out of the database, and none of a key out of an answer', async () => {
    const { text } = await session.call('GET', '/ui/api/sessions');
    for (const secret of [session.cookie.split('=')[1] ?? '', session.token, MANAGEMENT_KEY, API_KEY])
      assert.equal(text.includes(secret), false);
  });

  test('cannot pass for a worker: the header with its address counts for nothing', async () => {
    for (let each = 0; each < 5; each++)
      await postSession(gateway, { key: 'wrong' }, { ...SAME_ORIGIN, 'x-gateway-peer': `192.0.2.${each}` });
    const sixth = await postSession(gateway, { key: 'wrong' }, { ...SAME_ORIGIN, 'x-gateway-peer': '192.0.2.99' });
    assert.equal(sixth.status, 429);
  });
});

suite('a dashboard that other machines reach', () => {
  const allowed = 'allowed_hosts: [gateway.example]';

  // @spec console-4
  test('opens no session without TLS, and marks the cookie for it with TLS', async (t) => {
    const gateway = await startGateway({ yaml: `console: { ${allowed} }` });
    t.after(() => gateway.close());
    const host = 'gateway.example';
    const plain = { ...SAME_ORIGIN, host };
    assert.equal((await postSession(gateway, { key: MANAGEMENT_KEY }, plain)).status, 403);
    for (const headers of [
      { ...plain, 'x-forwarded-proto': 'https' },
      { host, origin: 'https://gateway.example' },
    ]) {
      const { status, headers: answered } = await postSession(gateway, { key: MANAGEMENT_KEY }, headers);
      assert.equal(status, 201);
      assert.match(answered['set-cookie']?.[0] ?? '', /; Secure$/);
    }
  });

  test('lets people sign in without TLS where the operator says so, and says so itself', async (t) => {
    const gateway = await startGateway({ yaml: `console: { ${allowed}, plain_http: true }` });
    t.after(() => gateway.close());
    const headers = { host: 'gateway.example', origin: 'http://gateway.example' };
    const { status, body, headers: answered } = await postSession(gateway, { key: MANAGEMENT_KEY }, headers);
    assert.equal(status, 201);
    assert.doesNotMatch(answered['set-cookie']?.[0] ?? '', /Secure/);
    assert.ok(isJsonObject(body['data']));
    const [cookie = ''] = (answered['set-cookie']?.[0] ?? '').split(';', 1);
    // Here browsers send neither header with what they read.
    const own = { host: 'gateway.example', cookie, 'x-console-token': textAt(body['data'], 'token') };
    const shown = await callRaw(gateway, 'GET', '/ui/api/session', own);
    assert.deepEqual([shown.status, shown.body['plain_http']], [200, true]);
    const foreign = { ...own, origin: 'http://evil.example' };
    assert.equal((await callRaw(gateway, 'GET', '/ui/api/session', foreign)).status, 403);
    assert.equal((await callRaw(gateway, 'DELETE', '/ui/api/session', own)).status, 403);
  });
});
