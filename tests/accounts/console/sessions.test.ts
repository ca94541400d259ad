import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { createConsoleLinks } from '../../../src/accounts/console/links.ts';
import { DEFAULT_WORKSPACE_ID } from '../../../src/accounts/principal.ts';
import { embeddedDatabaseOf } from '../../../src/app/embedded-database.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { createConsoleLinkStore } from '../../../src/store/accounts/console-links.ts';
import { openDatabase } from '../../../src/store/engine/database.ts';
import { manage, textAt } from '../../support/byok.ts';
import { callRaw, postSession, SAME_ORIGIN, signIn, type BrowserReply } from '../../support/http/console-client.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';

async function setUp(t: TestContext, yaml = ''): Promise<RunningGateway> {
  const gateway = await startGateway({ yaml });
  t.after(() => gateway.close());
  return gateway;
}

function rowsOf({ body }: Pick<BrowserReply, 'body'>): readonly JsonObject[] {
  assert.ok(Array.isArray(body['data']));
  return body['data'].filter((row) => isJsonObject(row));
}

async function makeLink({ dataDir }: RunningGateway): Promise<string> {
  const database = await openDatabase({ path: embeddedDatabaseOf({ dataDir }), clock });
  try {
    return await createConsoleLinks({ store: createConsoleLinkStore({ database }), clock }).create();
  } finally {
    await database.close();
  }
}

function objectOf(value: unknown): JsonObject {
  assert.ok(isJsonObject(value));
  return value;
}

/** Content is stored after the response. */
async function waitFor(isThere: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) if (await isThere()) return;
  assert.fail('it did not come');
}

async function actionsOf(gateway: RunningGateway): Promise<readonly unknown[]> {
  const { body } = await manage(gateway, 'GET', '/audit?limit=100');
  return rowsOf({ body }).map(({ action }) => action);
}

suite('a session of the dashboard', () => {
  // @spec console-6
  test('opens with a management key as operator, with a cookie that scripts and other paths never see', async (t) => {
    const gateway = await setUp(t);
    const { status, body, headers } = await postSession(gateway, { key: MANAGEMENT_KEY });
    assert.equal(status, 201);
    const { data } = body;
    assert.ok(isJsonObject(data) && isJsonObject(data['subject']));
    assert.deepEqual([data['role'], data['subject']['kind'], data['current']], ['operator', 'management-key', true]);
    assert.match(
      headers['set-cookie']?.[0] ?? '',
      /^gateway_session=[\w-]{43}; Path=\/ui; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['access-control-allow-origin'], undefined);
  });

  // @spec console-2
  test('opens with an API key as a member, which sees own facts and calls no route of operators', async (t) => {
    const gateway = await setUp(t);
    const session = await signIn(gateway, { key: API_KEY });
    const own = await session.call('GET', '/ui/api/v1/key');
    assert.equal(own.status, 200);
    assert.ok(isJsonObject(own.body['data']));
    assert.equal(own.body['data']['is_management_key'], false);
    const { status, text } = await session.call('GET', '/ui/api/v1/keys');
    assert.equal(status, 403);
    assert.match(text, /operator/);
  });

  // @spec console-3
  test('opens with a link once, and never again', async (t) => {
    const gateway = await setUp(t);
    const link = await makeLink(gateway);
    const session = await signIn(gateway, { link });
    const { body } = await session.call('GET', '/ui/api/session');
    assert.ok(isJsonObject(body['data']) && isJsonObject(body['data']['subject']));
    assert.deepEqual([body['data']['role'], body['data']['subject']['key_hash']], ['operator', null]);
    assert.equal((await session.call('GET', '/ui/api/v1/keys')).status, 200);
    assert.equal((await postSession(gateway, { link })).status, 401);
    const consent = { callback_url: 'https://app.example/done', key_label: 'Editor' };
    const { status, text } = await session.call('POST', '/ui/api/v1/auth/keys/code', consent);
    assert.equal(status, 200, text);
  });

  // @spec console-5
  test('refuses wrong keys in one wording, and after five of them everything for a minute', async (t) => {
    const gateway = await setUp(t);
    const wrong = [{ key: 'mgw-wrong' }, { key: 'with blanks' }, { link: 'x' }, { link: 'y'.repeat(43) }, { key: 'z' }];
    const replies = [];
    for (const proof of wrong) replies.push(await postSession(gateway, proof));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([401]));
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    const sixth = await postSession(gateway, { key: MANAGEMENT_KEY });
    assert.equal(sixth.status, 429);
    assert.ok(Number(sixth.headers['retry-after']) > 0);
    const refused = (await actionsOf(gateway)).filter((action) => action === 'signInRefused');
    assert.equal(refused.length, 1);
    await postSession(gateway, { key: MANAGEMENT_KEY });
    assert.equal((await actionsOf(gateway)).filter((action) => action === 'signInRefused').length, 1);
  });

  test('does not count keys that are right', async (t) => {
    const gateway = await setUp(t);
    for (let each = 0; each < 7; each++) await signIn(gateway);
  });

  // @spec console-7
  test('ends with the next call once its key is disabled', async (t) => {
    const gateway = await setUp(t);
    const { body } = await manage(gateway, 'POST', '/keys', { name: 'Ann' });
    assert.ok(isJsonObject(body['data']));
    const session = await signIn(gateway, { key: textAt(body, 'key') });
    assert.equal((await session.call('GET', '/ui/api/v1/key')).status, 200);
    await manage(gateway, 'PATCH', `/keys/${textAt(body['data'], 'hash')}`, { disabled: true });
    assert.equal((await session.call('GET', '/ui/api/v1/key')).status, 401);
  });

  test('is over for every tab after the sign-out, which leaves an audit event', async (t) => {
    const gateway = await setUp(t);
    const session = await signIn(gateway);
    const out = await session.call('DELETE', '/ui/api/session');
    assert.equal(out.status, 200);
    assert.equal(out.headers['clear-site-data'], '"cache"');
    assert.match(out.headers['set-cookie']?.[0] ?? '', /^gateway_session=; .*Max-Age=0/);
    assert.equal((await session.call('GET', '/ui/api/session')).status, 401);
    assert.deepEqual((await actionsOf(gateway)).slice(0, 2), ['signOut', 'signIn']);
  });

  test('is listed with its device, and ended by an operator or its owner alone', async (t) => {
    const gateway = await setUp(t);
    const [operator, member] = [await signIn(gateway), await signIn(gateway, { key: API_KEY })];
    const all = rowsOf(await operator.call('GET', '/ui/api/sessions'));
    assert.deepEqual(
      all.map(({ id, current, address_prefix: from }) => [id, current, from]),
      [
        [member.id, false, '127.0.0.0/24'],
        [operator.id, true, '127.0.0.0/24'],
      ],
    );
    assert.deepEqual(
      rowsOf(await member.call('GET', '/ui/api/sessions')).map(({ id }) => id),
      [member.id],
    );
    assert.equal((await member.call('DELETE', `/ui/api/sessions/${operator.id}`)).status, 404);
    assert.equal((await operator.call('DELETE', `/ui/api/sessions/${member.id}`)).status, 200);
    assert.equal((await member.call('GET', '/ui/api/session')).status, 401);
  });

  test('keeps the 50 newest of a key', async (t) => {
    const gateway = await setUp(t);
    const first = await signIn(gateway);
    for (let each = 0; each < 50; each++) await signIn(gateway);
    assert.equal((await first.call('GET', '/ui/api/session')).status, 401);
  });

  test('names wrong bodies with the path, and reads no more than a short one', async (t) => {
    const gateway = await setUp(t);
    for (const proof of [{}, { key: 1 }, { key: 'a', more: 1 }, []])
      assert.equal((await postSession(gateway, proof)).status, 400);
    assert.equal((await postSession(gateway, { key: 'x'.repeat(17_000) })).status, 413);
  });
});

suite('calls of a session', () => {
  // @spec console-12
  test('generate as a key of the operator, with the application Console and a limit a day', async (t) => {
    const gateway = await setUp(t);
    const session = await signIn(gateway);
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] };
    const replies = await Promise.all([1, 2].map(() => session.call('POST', '/ui/api/v1/chat/completions', chat)));
    for (const { status, text, headers } of replies) {
      assert.equal(status, 200, text);
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
    const keys = rowsOf(await session.call('GET', '/ui/api/v1/keys')).filter(({ name }) => name === 'Console');
    assert.deepEqual(
      keys.map(({ limit, limit_reset: reset, issuer_label: issuer }) => [limit, reset, issuer]),
      [[5, 'daily', 'console']],
    );
    const record = await gateway.app.generations.find(textAt(replies[0]?.body ?? {}, 'id'));
    assert.deepEqual([record?.appTitle, record?.keyHash], ['Console', keys[0]?.['hash']]);
  });

  test('generate on the rules of the own key of a member', async (t) => {
    const gateway = await setUp(t);
    const session = await signIn(gateway, { key: API_KEY });
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] };
    assert.equal((await session.call('POST', '/ui/api/v1/chat/completions', chat)).status, 200);
    const tokens = { model: 'sandbox/echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
    assert.equal((await session.call('POST', '/ui/api/v1/messages/count_tokens', tokens)).status, 200);
    assert.equal((await session.call('POST', '/ui/api/v1/route/explain', chat)).status, 200);
    const { body } = await manage(gateway, 'GET', '/keys');
    assert.deepEqual(rowsOf({ body }), []);
  });

  test('change things with the audit event of their key, and answer unknown paths with JSON', async (t) => {
    const gateway = await setUp(t);
    const session = await signIn(gateway);
    assert.equal((await session.call('POST', '/ui/api/v1/keys', { name: 'New' })).status, 201);
    assert.ok((await actionsOf(gateway)).includes('createKey'));
    for (const path of ['/ui/api/foo', '/ui/api', '/ui/api/v1/foo', '/ui/api/v1']) {
      const { status, headers } = await session.call('GET', path);
      assert.equal(status, 404, path);
      assert.match(headers['content-type'] ?? '', /json/);
    }
  });

  // @spec console-13
  test('that read what was said leave an audit event, which those of keys do not', async (t) => {
    const gateway = await setUp(t);
    const logging = { is_observability_io_logging_enabled: true, io_logging_sampling_rate: 1 };
    assert.equal((await manage(gateway, 'PATCH', `/workspaces/${DEFAULT_WORKSPACE_ID}`, logging)).status, 200);
    const sent = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'A secret' }] };
    const id = textAt(objectOf(await (await gateway.post('/chat/completions', sent)).json()), 'id');
    const path = `/generation/content?id=${id}`;
    await waitFor(async () => (await manage(gateway, 'GET', path)).status === 200);
    assert.equal((await actionsOf(gateway)).includes('readGenerationContent'), false);
    const session = await signIn(gateway);
    assert.match((await session.call('GET', `/ui/api/v1${path}`)).text, /A secret/);
    const { body } = await manage(gateway, 'GET', '/audit?action=readGenerationContent');
    assert.deepEqual(
      rowsOf({ body }).map(({ subject }) => subject),
      [`/generations/${id}`],
    );
  });

  test('have no rights on /v1', async (t) => {
    const gateway = await setUp(t);
    const session = await signIn(gateway);
    for (const path of ['/v1/keys', '/v1/key', '/api/v1/keys'])
      assert.equal((await session.call('GET', path)).status, 401, path);
  });

  test('are served by no route where the dashboard is off', async (t) => {
    const gateway = await setUp(t, 'console: { enabled: false }');
    assert.equal((await postSession(gateway, { key: MANAGEMENT_KEY })).status, 404);
    assert.equal((await callRaw(gateway, 'GET', '/', SAME_ORIGIN)).status, 404);
  });
});
