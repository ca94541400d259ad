import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { postSession, signIn } from '../../support/http/console-client.ts';
import {
  dataOf,
  invite,
  join,
  makeWorkspace,
  PASSWORD,
  secretIn,
  startOrganization,
} from '../../support/http/people-client.ts';
import { startGateway, type RunningGateway } from '../../support/gateway.ts';

suite('a gateway without an organization', () => {
  // @spec people-1
  test('has no users, no invitations and no other sign-in, and says what turns them on', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    for (const [method, path, body] of [
      ['POST', '/organization/members', { email: 'ann@acme.example' }],
      ['PATCH', '/organization/members/x', { role: 'org:admin' }],
      ['DELETE', '/organization/members/x', undefined],
      ['POST', '/organization/members/x/password-link', undefined],
      ['GET', '/organization/invitations', undefined],
    ] as const) {
      const { status, text } = await manage(gateway, method, path, body);
      assert.equal(status, 404, path);
      assert.match(text, /organization: \{ enabled: true \}/);
    }
    const { status, text } = await postSession(gateway, { email: 'ann@acme.example', password: PASSWORD });
    assert.equal(status, 403, text);
    const ways = await (await fetch(`${gateway.url}/ui/api/sign-in`, { headers: { origin: gateway.url } })).json();
    assert.deepEqual(ways, { data: { organization: false, name: null, password: false, oidc: null } });
  });
});

suite('people of an organization', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startOrganization();
  });
  after(() => gateway.close());

  // @spec people-3, people-8
  test('join by a link, with the role and the workspaces of the invitation', async () => {
    const workspaceId = await makeWorkspace(gateway, 'research');
    const workspaces = [{ workspace_id: workspaceId, role: 'admin' }];
    const ann = await join(gateway, 'Ann@acme.example', { workspaces });
    const shown = dataOf(await ann.session.call('GET', '/ui/api/session'));
    assert.equal(shown['role'], 'member');
    assert.deepEqual(
      (shown['workspaces'] as { id: string; role: string }[]).find(({ id }) => id === workspaceId)?.role,
      'admin',
    );
    const admin = await join(gateway, 'root@acme.example', { role: 'org:admin' });
    assert.equal(dataOf(await admin.session.call('GET', '/ui/api/session'))['role'], 'operator');
    const listed = await admin.session.call('GET', '/ui/api/v1/organization/members');
    assert.deepEqual(
      (listed.body['data'] as { email: string; role: string; state: string }[]).map(({ email, role, state }) => [
        email,
        role,
        state,
      ]),
      [
        ['Ann@acme.example', 'org:member', 'active'],
        ['root@acme.example', 'org:admin', 'active'],
      ],
    );
  });

  // @spec people-5, people-6
  test('sign in with their password, whatever the case of their address', async () => {
    const { status, text } = await postSession(gateway, { email: 'ANN@ACME.EXAMPLE', password: PASSWORD });
    assert.equal(status, 201, text);
  });

  test('are invited once for each address, and a second link takes the place of the first', async () => {
    const taken = await manage(gateway, 'POST', '/organization/members', { email: 'ANN@acme.example' });
    assert.equal(taken.status, 409, taken.text);
    const first = await invite(gateway, 'cleo@acme.example');
    const second = await invite(gateway, 'cleo@acme.example');
    const proofOf = (token: string) => ({ invitation: { token, password: PASSWORD } });
    assert.equal((await postSession(gateway, proofOf(first))).status, 401);
    const pending = await manage(gateway, 'GET', '/organization/invitations');
    const [open] = pending.body['data'] as { id: string; email: string }[];
    assert.equal(open?.email, 'cleo@acme.example');
    const renewed = await manage(gateway, 'POST', `/organization/invitations/${open?.id}/link`);
    assert.equal((await postSession(gateway, proofOf(second))).status, 401);
    const { status } = await postSession(gateway, proofOf(secretIn(textAt(renewed.body, 'link'))));
    assert.equal(status, 201);
  });

  test('are invited to a workspace once: twice is refused with its place, and makes no link that nothing can use', async () => {
    const workspaceId = await makeWorkspace(gateway, 'twice');
    const place = { workspace_id: workspaceId, role: 'member' };
    const email = 'twice@acme.example';
    const sent = { email, workspaces: [place, { ...place, role: 'admin' }] };
    const { status, text } = await manage(gateway, 'POST', '/organization/members', sent);
    assert.equal(status, 400, text);
    assert.match(text, /workspaces\[1\]\.workspace_id/);
  });

  // @spec people-6
  test('get no weak password', async () => {
    const token = await invite(gateway, 'weak@acme.example');
    for (const password of ['short', 'aaaaaaaaaaaaaaaa', 'weak@acme.example']) {
      const { status, text } = await postSession(gateway, { invitation: { token, password } });
      assert.equal(status, 400, text);
      assert.match(text, /"path":"password"/);
    }
  });

  // @spec people-4
  test('lose their sessions and their keys at once when they are disabled, and get no key back by themselves', async () => {
    const dan = await join(gateway, 'dan@acme.example');
    const made = await dan.session.call('POST', '/ui/api/v1/keys', { name: 'laptop' });
    assert.equal(made.status, 201, made.text);
    const key = textAt(made.body, 'key');
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] };
    const ask = () => gateway.post('/chat/completions', chat, { authorization: `Bearer ${key}` });
    const tried = await dan.session.call('POST', '/ui/api/v1/chat/completions', chat);
    assert.equal(tried.status, 200, tried.text);
    assert.equal((await ask()).status, 200);
    const { status } = await manage(gateway, 'PATCH', `/organization/members/${dan.id}`, { disabled: true });
    assert.equal(status, 200);
    assert.equal((await ask()).status, 401);
    assert.equal((await dan.session.call('GET', '/ui/api/session')).status, 401);
    assert.equal((await postSession(gateway, { email: dan.email, password: PASSWORD })).status, 401);
    await manage(gateway, 'PATCH', `/organization/members/${dan.id}`, { disabled: false });
    const again = await signIn(gateway, { email: dan.email, password: PASSWORD });
    assert.equal((await ask()).status, 401);
    const hash = textAt(dataOf(made), 'hash');
    assert.equal((await again.call('PATCH', `/ui/api/v1/keys/${hash}`, { disabled: false })).status, 403);
    const blocked = await again.call('POST', '/ui/api/v1/chat/completions', chat);
    assert.equal(blocked.status, 403, blocked.text);
    assert.equal((await again.call('GET', '/ui/api/session')).status, 200);
  });

  // @spec people-4
  test('leave nothing but their id when they are removed', async () => {
    const eve = await join(gateway, 'eve@acme.example');
    await eve.session.call('POST', '/ui/api/v1/keys', { name: 'eve' });
    assert.equal((await manage(gateway, 'DELETE', `/organization/members/${eve.id}`)).status, 200);
    assert.equal((await eve.session.call('GET', '/ui/api/session')).status, 401);
    const { text } = await manage(gateway, 'GET', '/organization/members');
    assert.ok(!text.includes('eve@acme.example'));
    const refused = await manage(gateway, 'POST', '/keys', { name: 'for eve', creator_user_id: eve.id });
    assert.equal(refused.status, 403, refused.text);
    await join(gateway, 'eve@acme.example');
  });

  // @spec people-5
  test('choose another password by a link, which ends their sessions, and with the current one, which keeps one', async () => {
    const fay = await join(gateway, 'fay@acme.example');
    const made = await manage(gateway, 'POST', `/organization/members/${fay.id}/password-link`);
    const token = secretIn(textAt(dataOf(made), 'link'));
    const session = await signIn(gateway, { invitation: { token, password: 'another long password' } });
    assert.equal((await fay.session.call('GET', '/ui/api/session')).status, 401);
    const other = await signIn(gateway, { email: fay.email, password: 'another long password' });
    const wrong = await session.call('POST', '/ui/api/password', { current: PASSWORD, next: 'yet another password' });
    assert.equal(wrong.status, 400, wrong.text);
    const change = { current: 'another long password', next: 'yet another password' };
    assert.equal((await session.call('POST', '/ui/api/password', change)).status, 200);
    assert.equal((await other.call('GET', '/ui/api/session')).status, 401);
    assert.equal((await session.call('GET', '/ui/api/session')).status, 200);
  });

  // @spec people-2
  test('keep one admin, which can neither be removed, disabled nor made a member', async (t) => {
    const own = await startOrganization();
    t.after(() => own.close());
    const root = await join(own, 'root@acme.example', { role: 'org:admin' });
    const path = `/organization/members/${root.id}`;
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { disabled: true }],
      ['PATCH', { role: 'org:member' }],
    ] as const)
      assert.equal((await manage(own, method, path, body)).status, 409, JSON.stringify(body));
    const second = await join(own, 'second@acme.example', { role: 'org:admin' });
    assert.equal((await manage(own, 'PATCH', path, { role: 'org:member' })).status, 200);
    // The session of the former admin has the rights of a member with its next call.
    assert.equal((await root.session.call('GET', '/ui/api/v1/audit')).status, 403);
    assert.equal((await second.session.call('GET', '/ui/api/v1/audit')).status, 200);
  });

  test('are named in the audit trail by their addresses', async () => {
    const { body } = await manage(gateway, 'GET', '/audit?action=signIn&limit=100');
    const events = body['data'] as { actor: { label: string }; changes: { subject: string; by: string } }[];
    const own = events.filter(({ changes }) => changes.subject === 'user');
    assert.ok(own.some(({ actor, changes }) => actor.label === 'fay@acme.example' && changes.by === 'password'));
    assert.ok(own.some(({ actor, changes }) => actor.label === 'eve@acme.example' && changes.by === 'invitation'));
    assert.ok(events.every(({ actor }) => isJsonObject(actor)));
  });
});
