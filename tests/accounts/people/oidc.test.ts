import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject } from '../../../src/lib/json.ts';
import { textAt } from '../../support/byok.ts';
import { callRaw, postSession, SAME_ORIGIN, type BrowserReply } from '../../support/http/console-client.ts';
import { startIdentityProvider, type IdentityProvider } from '../../support/http/identity-provider.ts';
import { dataOf, invite, join } from '../../support/http/people-client.ts';
import { startGateway, type RunningGateway } from '../../support/gateway.ts';

/** The gateway is reached by this name: its port is not known before it listens, and the provider has to know the address. */
const ORIGIN = 'http://gateway.localhost';
const BROWSER = { ...SAME_ORIGIN, host: 'gateway.localhost' };

function yamlFor({ issuer, clientId, clientSecret }: IdentityProvider, more = ''): string {
  return `organization: { enabled: true, oidc: { issuer: "${issuer}", client_id: ${clientId}, client_secret: "${clientSecret}", name: Acme${more} } }`;
}

interface Start {
  readonly url: string;
  readonly token: string;
  readonly cookie: string;
}

async function begin(gateway: RunningGateway): Promise<Start> {
  const reply = await callRaw(gateway, 'POST', '/ui/api/session/oidc', BROWSER);
  assert.equal(reply.status, 201, reply.text);
  const [cookie = ''] = (reply.headers['set-cookie']?.[0] ?? '').split(';', 1);
  return { url: textAt(dataOf(reply), 'url'), token: textAt(dataOf(reply), 'token'), cookie };
}

function finish(gateway: RunningGateway, query: string, token: string, cookie: string): Promise<BrowserReply> {
  return postSession(gateway, { oidc: { query, token } }, { ...BROWSER, cookie });
}

suite('sign-in with an identity provider', () => {
  let provider: IdentityProvider;
  let gateway: RunningGateway;
  before(async () => {
    provider = await startIdentityProvider(`${ORIGIN}/ui/signin/oidc`);
    gateway = await startGateway({ yaml: yamlFor(provider) });
  });
  after(() => Promise.all([gateway.close(), provider.close()]));

  async function signInAs(subject: string, at = gateway): Promise<BrowserReply> {
    const { url, token, cookie } = await begin(at);
    const { query } = await provider.signIn(url, subject);
    return finish(at, query, token, cookie);
  }

  // @spec people-12, people-13
  test('makes a user of an invitation with the verified address, and finds it again by the identity', async () => {
    await invite(gateway, 'Ann@acme.example', { role: 'org:admin' });
    provider.people.set('ann', {
      email: 'ann@acme.example',
      email_verified: true,
      given_name: 'Ann',
      family_name: 'Lee',
    });
    const first = await signInAs('ann');
    assert.equal(first.status, 201, first.text);
    assert.equal(dataOf(first)['role'], 'operator');
    assert.match(first.headers['set-cookie']?.[1] ?? '', /^gateway_signin=; Path=\/ui\/api\/session; Max-Age=0/);
    provider.people.set('ann', { email: 'other@acme.example', email_verified: true });
    const again = await signInAs('ann');
    const subjectOf = (reply: BrowserReply) => {
      const { subject } = dataOf(reply);
      assert.ok(isJsonObject(subject));
      return subject;
    };
    assert.deepEqual(subjectOf(again), subjectOf(first));
  });

  // @spec people-13
  test('refuses in one sentence those without an invitation, with an address that is not verified or of another identity', async () => {
    const bob = await join(gateway, 'bob@acme.example');
    provider.people.set('stranger', { email: 'stranger@acme.example', email_verified: true });
    provider.people.set('thief', { email: 'bob@acme.example', email_verified: false });
    provider.people.set('thief-2', { email: 'bob@acme.example' });
    provider.people.set('second-ann', { email: 'ann@acme.example', email_verified: true });
    const replies = [];
    for (const subject of ['stranger', 'thief', 'thief-2', 'second-ann']) replies.push(await signInAs(subject));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([401]));
    assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
    provider.people.set('bob', { email: 'bob@acme.example', email_verified: true });
    const own = dataOf(await signInAs('bob'))['subject'];
    assert.ok(isJsonObject(own));
    assert.equal(own['user_id'], bob.id);
  });

  // @spec people-12
  test('leads to the provider with PKCE, state and nonce, and names the address of the dashboard alone', async () => {
    const reply = await callRaw(gateway, 'POST', '/ui/api/session/oidc', BROWSER);
    assert.match(
      reply.headers['set-cookie']?.[0] ?? '',
      /^gateway_signin=v1\.[\w.-]+; Path=\/ui\/api\/session; Max-Age=600; HttpOnly; SameSite=Strict$/,
    );
    const { searchParams } = new URL(textAt(dataOf(reply), 'url'));
    assert.equal(searchParams.get('redirect_uri'), `${ORIGIN}/ui/signin/oidc`);
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    for (const name of ['state', 'nonce', 'code_challenge'])
      assert.ok((searchParams.get(name) ?? '').length >= 43, name);
    for (const host of ['evil.example', 'gateway.localhost.evil.example'])
      assert.equal((await callRaw(gateway, 'POST', '/ui/api/session/oidc', { ...BROWSER, host })).status, 403);
  });

  // @spec people-12
  test('opens no session with a half of another start, another state, or a second use', async (t) => {
    const own = await startGateway({ yaml: yamlFor(provider) });
    t.after(() => own.close());
    await invite(own, 'cleo@acme.example');
    provider.people.set('cleo', { email: 'cleo@acme.example', email_verified: true });
    const [start, other] = [await begin(own), await begin(own)];
    const { query } = await provider.signIn(start.url, 'cleo');
    for (const [name, reply] of Object.entries({
      'without the cookie': finish(own, query, start.token, ''),
      'with the cookie of another start': finish(own, query, start.token, other.cookie),
      'with the token of another start': finish(own, query, other.token, start.cookie),
      'with both halves of another start': finish(own, query, other.token, other.cookie),
    }))
      assert.equal((await reply).status, 401, name);
    const done = await finish(own, query, start.token, start.cookie);
    assert.equal(done.status, 201, done.text);
  });

  // @spec people-12
  test('takes a code once, none whose state was changed, and says what the provider refused', async (t) => {
    const own = await startGateway({ yaml: yamlFor(provider) });
    t.after(() => own.close());
    await invite(own, 'dan@acme.example');
    provider.people.set('dan', { email: 'dan@acme.example', email_verified: true });
    const start = await begin(own);
    const { query } = await provider.signIn(start.url, 'dan');
    const changed = new URLSearchParams(query);
    changed.set('state', 'x'.repeat(43));
    assert.equal((await finish(own, `?${changed.toString()}`, start.token, start.cookie)).status, 401);
    assert.equal((await finish(own, query, start.token, start.cookie)).status, 201);
    assert.equal((await finish(own, query, start.token, start.cookie)).status, 401);
    const state = new URLSearchParams(query).get('state') ?? '';
    const refused = new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer });
    const { status, text } = await finish(own, `?${refused.toString()}`, start.token, start.cookie);
    assert.equal(status, 401);
    assert.match(text, /refused the sign-in: access_denied/);
  });

  // @spec people-13
  test('makes users of its own where that is on, with the role and the limits of their groups and domains', async (t) => {
    const rules =
      ', create_users: true, trust_email: true, admin_groups: [platform], member_groups: [eng], email_domains: [acme.example]';
    const own = await startGateway({ yaml: yamlFor(provider, rules) });
    t.after(() => own.close());
    provider.people.set('root', { email: 'root@acme.example', groups: ['platform'] });
    provider.people.set('mia', { email: 'mia@acme.example', groups: ['eng', 'other'] });
    provider.people.set('sales', { email: 'sales@acme.example', groups: ['sales'] });
    provider.people.set('elsewhere', { email: 'mia@evil.example', groups: ['eng'] });
    provider.people.set('nowhere', { groups: ['eng'] });
    const roles = [];
    for (const subject of ['root', 'mia']) roles.push(dataOf(await signInAs(subject, own))['role']);
    assert.deepEqual(roles, ['operator', 'member']);
    for (const subject of ['sales', 'elsewhere', 'nowhere'])
      assert.equal((await signInAs(subject, own)).status, 401, subject);
    provider.people.set('mia', { email: 'mia@acme.example', groups: ['platform'] });
    assert.equal(dataOf(await signInAs('mia', own))['role'], 'operator');
    provider.people.set('mia', { email: 'mia@acme.example', groups: ['eng'] });
    assert.equal(dataOf(await signInAs('mia', own))['role'], 'member');
    // None would be left that could mend the groups.
    provider.people.set('root', { email: 'root@acme.example', groups: ['eng'] });
    assert.equal(dataOf(await signInAs('root', own))['role'], 'operator');
  });

  test('says that the provider is away, and goes on as soon as it is back', async (t) => {
    const gone = await startIdentityProvider(`${ORIGIN}/ui/signin/oidc`);
    await gone.close();
    const own = await startGateway({ yaml: yamlFor(gone) });
    t.after(() => own.close());
    const { status, text } = await callRaw(own, 'POST', '/ui/api/session/oidc', BROWSER);
    assert.equal(status, 502, text);
    assert.ok(text.includes(gone.issuer) && !text.includes(gone.clientSecret));
  });
});
