import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createSignInLimit } from '../../../src/accounts/console/sign-in-limit.ts';
import { GatewayError } from '../../../src/canonical/gateway-error.ts';
import { createMemoryState } from '../../../src/state/memory/state.ts';
import { manage, textAt } from '../../support/byok.ts';
import { callRaw, postSession, SAME_ORIGIN, signIn } from '../../support/http/console-client.ts';
import { dataOf, invite, join, PASSWORD, startOrganization } from '../../support/http/people-client.ts';
import { API_KEY, type RunningGateway } from '../../support/gateway.ts';

suite('an attack on the users of an organization', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startOrganization();
    await join(gateway, 'ann@acme.example');
    const gone = await join(gateway, 'gone@acme.example');
    await manage(gateway, 'PATCH', `/organization/members/${gone.id}`, { disabled: true });
  });
  after(() => gateway.close());

  // @spec people-7
  test('learns from no refusal whether an address has a user: words, statuses and work are the same', async () => {
    const tries = [
      { email: 'ann@acme.example', password: 'wrong password' },
      { email: 'nobody@acme.example', password: 'wrong password' },
      { email: 'gone@acme.example', password: PASSWORD },
    ];
    const replies = [];
    for (const proof of tries) {
      const startMs = performance.now();
      const { status, text } = await postSession(gateway, proof);
      replies.push({ status, text, ms: performance.now() - startMs });
    }
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([401]));
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    const times = replies.map(({ ms }) => ms);
    // A look-up alone takes a millisecond or two, a hash a hundred.
    assert.ok(Math.min(...times) > Math.max(...times) / 20, times.join(' '));
  });

  // @spec people-3
  test('makes one user of an invitation, however many use it at once', async (t) => {
    const own = await startOrganization();
    t.after(() => own.close());
    const token = await invite(own, 'bea@acme.example', { role: 'org:admin' });
    const proof = { invitation: { token, password: PASSWORD } };
    const replies = await Promise.all(Array.from({ length: 5 }, () => postSession(own, proof)));
    const statuses = replies.map(({ status }) => status).toSorted((one, other) => one - other);
    assert.deepEqual(statuses.slice(0, 1), [201]);
    assert.ok(
      statuses.slice(1).every((status) => status === 401 || status === 429),
      statuses.join(' '),
    );
    const { body } = await manage(own, 'GET', '/organization/members');
    assert.equal((body['data'] as unknown[]).length, 1);
  });

  // @spec people-3
  test('gets nothing of a link that was withdrawn, and cannot raise what an invitation gives', async () => {
    const token = await invite(gateway, 'cy@acme.example');
    const { body } = await manage(gateway, 'GET', '/organization/invitations');
    const id = (body['data'] as { id: string; email: string }[]).find(({ email }) => email === 'cy@acme.example')?.id;
    const more = { invitation: { token, password: PASSWORD, role: 'org:admin' } };
    assert.equal((await postSession(gateway, more)).status, 400);
    const look = await callRaw(
      gateway,
      'POST',
      '/ui/api/invitation',
      { ...SAME_ORIGIN, 'content-type': 'application/json' },
      JSON.stringify({ token }),
    );
    assert.deepEqual([look.status, dataOf(look)['email']], [200, 'cy@acme.example']);
    await manage(gateway, 'DELETE', `/organization/invitations/${id}`);
    assert.equal((await postSession(gateway, { invitation: { token, password: PASSWORD } })).status, 401);
  });

  // @spec console-6
  test('cannot plant a session: the sign-in of a user ends the one that was there and makes its own', async () => {
    const planted = await signIn(gateway, { key: API_KEY });
    const proof = { email: 'ann@acme.example', password: PASSWORD };
    const { status, body, headers } = await postSession(gateway, proof, planted.headers);
    assert.equal(status, 201);
    const token = textAt(dataOf({ body, text: '' }), 'token');
    assert.notEqual(token, planted.token);
    assert.equal(headers['set-cookie']?.[0]?.includes(planted.cookie), false);
    assert.equal((await planted.call('GET', '/ui/api/session')).status, 401);
  });

  // @spec console-10
  test('opens, begins and looks at nothing from a page of another port or site', async () => {
    const token = await invite(gateway, 'di@acme.example');
    const type = { 'content-type': 'application/json' };
    for (const from of [
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://127.0.0.1:1' },
      { origin: 'https://evil.example' },
    ])
      for (const [path, body] of [
        ['/ui/api/session', { email: 'ann@acme.example', password: PASSWORD }],
        ['/ui/api/session', { invitation: { token, password: PASSWORD } }],
        ['/ui/api/session/oidc', {}],
        ['/ui/api/invitation', { token }],
        ['/ui/api/password', { current: PASSWORD, next: 'a new long password' }],
      ] as const)
        assert.equal(
          (await callRaw(gateway, 'POST', path, { ...type, ...from }, JSON.stringify(body))).status,
          403,
          path,
        );
    for (const sent of ['text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { ...SAME_ORIGIN, 'content-type': sent };
      assert.equal(
        (await postSession(gateway, { email: 'ann@acme.example', password: PASSWORD }, headers)).status,
        400,
      );
    }
    assert.equal((await postSession(gateway, { invitation: { token, password: PASSWORD } })).status, 201);
  });

  test('cannot change what only the organization gives: its own role, another user, another organization', async () => {
    const ann = await signIn(gateway, { email: 'ann@acme.example', password: PASSWORD });
    const own = dataOf(await ann.call('GET', '/ui/api/session'))['subject'] as { user_id: string };
    for (const [method, path, body] of [
      ['PATCH', `/organization/members/${own.user_id}`, { role: 'org:admin' }],
      ['POST', '/organization/members', { email: 'x@acme.example', role: 'org:admin' }],
      ['POST', `/organization/members/${own.user_id}/password-link`, {}],
      ['GET', '/organization/invitations', undefined],
      ['POST', '/workspaces', { name: 'x', slug: 'x' }],
      ['POST', '/credits/grants', { amount: 1 }],
      ['GET', '/audit', undefined],
      ['GET', '/keys?kind=management', undefined],
    ] as const) {
      const { status, text } = await ann.call(method, `/ui/api/v1${path}`, body);
      if (path.startsWith('/keys')) assert.ok(!text.includes('"is_management'), text);
      else assert.equal(status, 403, path);
    }
    const asked = await ann.call('GET', '/ui/api/session', undefined, { 'x-console-role': 'operator' });
    assert.equal(dataOf(asked)['role'], 'member');
    const others = await ann.call('GET', '/ui/api/sessions');
    assert.ok(
      (others.body['data'] as { subject: { user_id: string } }[]).every(
        ({ subject }) => subject.user_id === own.user_id,
      ),
    );
    const foreign = await signIn(gateway);
    assert.equal((await ann.call('DELETE', `/ui/api/sessions/${foreign.id}`)).status, 404);
  });

  // @spec people-2
  test('leaves one admin, whichever of two is removed at once', async (t) => {
    const own = await startOrganization();
    t.after(() => own.close());
    const admins = [];
    for (const name of ['one', 'two']) admins.push(await join(own, `${name}@acme.example`, { role: 'org:admin' }));
    const replies = await Promise.all(admins.map(({ id }) => manage(own, 'DELETE', `/organization/members/${id}`)));
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 409],
    );
  });

  // @spec people-7
  test('is stopped for one user however many addresses it comes from, and for unknown ones alike', async () => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const { rateLimitState } = createMemoryState({ clock, textBytesMax: 0, responseRoom: { bytesMax: 0, lifeMs: 0 } });
    const limit = createSignInLimit({ rateLimitState, clock, onRefused: () => Promise.resolve() });
    const refuse = () => Promise.reject(new GatewayError('authentication', 'no'));
    const statuses = [];
    for (let each = 0; each < 31; each++) {
      nowMs += 10_000;
      const from = `192.0.2.${each}`;
      const status = await limit
        .attempt(from, refuse, each % 2 === 0 ? 'ann@acme.example' : 'ANN@acme.example')
        .catch((error: unknown) => (error instanceof GatewayError ? error.status : 0));
      statuses.push(status);
    }
    assert.deepEqual([statuses.indexOf(429), statuses.filter((status) => status === 401).length], [30, 30]);
    await limit.attempt('192.0.2.99', () => Promise.resolve(), 'bob@acme.example');
  });
});
