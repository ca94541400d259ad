import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { clientOf } from '../accounts/evaluations/support.ts';
import { manage, textAt } from '../support/byok.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { postSession } from '../support/http/console-client.ts';
import { startMailServer, type MailServer } from '../support/http/mail-server.ts';
import { dataOf, join, makeWorkspace } from '../support/http/people-client.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

interface Sent {
  readonly type: string;
  readonly data: { readonly severity: string; readonly title: string; readonly values: Record<string, unknown> };
}

suite('what reaches a channel', () => {
  let upstream: ScriptedUpstream;
  let working: ScriptedUpstream;
  let receiver: ScriptedUpstream;
  let mails: MailServer;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(401, { error: { message: 'no' } }));
    const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
    working = await startUpstream(json(200, chatAnswer('hi', { usage })));
    receiver = await startUpstream(json(200, {}));
    mails = await startMailServer();
    gateway = await startGateway({
      notificationTickMs: 5,
      jobTimes: { tickMs: 5 },
      yaml: `
organization: { enabled: true }
scim: { enabled: true, admin_group: platform }
containers: { runtime: bubblewrap, rootfs: /nothing/here }
notifications: { private_addresses: true, smtp: { host: 127.0.0.1, port: ${mails.port}, plain: true, from: "g@example.com" } }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
  beta: { adapter: openai-compatible, name: Beta, base_url: ${working.baseUrl}, api_key: b }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one }] }
  acme/two: { endpoints: [{ provider: beta, model: two, price: { prompt: 0, completion: 10 } }] }
`,
    });
    const hook = { name: 'all', kind: 'webhook', url: `${receiver.baseUrl}/hook`, events: ['*'], max_per_hour: 1_000 };
    assert.equal((await manage(gateway, 'POST', '/notifications/channels', hook)).status, 201);
  });
  after(async () => {
    await gateway.close();
    await Promise.all([upstream.close(), working.close(), receiver.close(), mails.close()]);
  });

  async function arrived(type: string): Promise<Sent> {
    for (let tries = 0; tries < 600; tries++) {
      const found = receiver.arrived.map(({ body }) => body as unknown as Sent).find((sent) => sent.type === type);
      if (found !== undefined) return found;
      await pause(5);
    }
    return assert.fail(`${type} has not arrived`);
  }

  // @spec notification-10
  test('has containers that stay off, since nothing isolates here', async () => {
    const { data } = await arrived('containers.unsafe');
    assert.equal(data.severity, 'critical');
  });

  // @spec notification-9
  test('has a credential that a provider refuses', async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    await (await gateway.post('/chat/completions', { model: 'acme/one', messages })).text();
    const { data } = await arrived('credential.rejected');
    assert.equal(data.values['provider'], 'alpha');
  });

  // @spec notification-12
  test('has a key that an application was given, without the key', async () => {
    const issued = await manage(gateway, 'POST', '/auth/keys/code', { callback_url: 'https://app.example/back' });
    const response = await fetch(`${gateway.baseUrl}/auth/keys`, {
      method: 'POST',
      body: JSON.stringify({ code: textAt(dataOf(issued), 'id') }),
    });
    const { key } = (await response.json()) as { key: string };
    assert.ok(key);
    const sent = await arrived('key.created_by_oauth');
    assert.ok(!JSON.stringify(sent).includes(key));
  });

  // @spec scim-14
  test('has users that the identity provider deactivates, and the last admin that it cannot take away', async () => {
    const admin = await join(gateway, 'root@acme.example', { role: 'org:admin' });
    const token = textAt((await manage(gateway, 'POST', '/scim/tokens', { name: 'Entra' })).body, 'token');
    const scim = async (method: string, path: string, body?: object): Promise<{ id: string }> => {
      const response = await fetch(`${gateway.url}/scim/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      assert.ok(response.ok, text);
      return (text === '' ? {} : JSON.parse(text)) as { id: string };
    };
    const { id: root } = await scim('POST', '/Users', { userName: admin.email });
    const { id } = await scim('POST', '/Users', { userName: 'mia@acme.example' });
    const members = [{ value: root }];
    const group = await scim('POST', '/Groups', { displayName: 'platform', members });
    await scim('DELETE', `/Groups/${group.id}`);
    await arrived('scim.last_admin_kept');
    await scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: { active: false } }] });
    const { data } = await arrived('scim.user_deactivated');
    assert.equal(data.values['user_id'], id);
  });

  // @spec notification-12
  test('has a benchmark run that is over', async () => {
    const benchmarks = clientOf(gateway.baseUrl);
    const dataset = await benchmarks.dataset([{ id: 'q', prompt: 'hi', expected: 'hi' }], 'few');
    await benchmarks.run(dataset, { models: ['acme/two'] });
    const { data } = await arrived('evaluation.done');
    assert.equal(data.values['dataset'], 'few');
  });

  // @spec notification-13
  test('goes to the users who have a role at that moment, each once, and to no one else', async () => {
    const workspace = await makeWorkspace(gateway, 'lab');
    const lead = await join(gateway, 'lead@acme.example', { workspaces: [{ workspace_id: workspace, role: 'admin' }] });
    const owner = await join(gateway, 'owner@acme.example', {
      workspaces: [{ workspace_id: workspace, role: 'member' }],
    });
    await join(gateway, 'bystander@acme.example');
    const channel = await manage(gateway, 'POST', '/notifications/channels', {
      name: 'mail',
      kind: 'email',
      events: ['key.limit'],
      recipients: ['org_admins', 'workspace_admins', 'key_owner', 'ROOT@acme.example'],
    });
    assert.equal(channel.status, 201, channel.text);
    const draft = { name: 'ci', limit: 0.001, workspace_id: workspace, creator_user_id: owner.id };
    const { body } = await manage(gateway, 'POST', '/keys', draft);
    const messages = [{ role: 'user', content: 'hi' }];
    const headers = { authorization: `Bearer ${textAt(body, 'key')}` };
    const request = { model: 'acme/two', max_tokens: 100, messages };
    assert.equal((await gateway.post('/chat/completions', request, headers)).status, 200);
    const recipients = () =>
      mails.lines
        .filter((line) => line.startsWith('RCPT TO'))
        .map((line) => line.toLowerCase())
        .toSorted();
    for (let tries = 0; tries < 400 && recipients().length < 3; tries++) await pause(5);
    await pause(50);
    assert.deepEqual(
      recipients(),
      [lead.email, owner.email, 'root@acme.example'].map((email) => `rcpt to:<${email}>`),
    );
  });

  // @spec notification-12
  test('has sign-ins that are refused after too many wrong ones', async () => {
    for (let tries = 0; tries < 7; tries++) await postSession(gateway, { key: `sk-wrong-${tries}` });
    const { data } = await arrived('security.signin_blocked');
    assert.equal(data.values['address'], '127.0.0.1');
  });
});

// @spec notification-13
test('refuses roles as recipients where there are no users', async (t) => {
  const mails = await startMailServer();
  const gateway = await startGateway({
    yaml: `notifications: { smtp: { host: 127.0.0.1, port: ${mails.port}, plain: true, from: "g@example.com" } }`,
  });
  t.after(() => Promise.all([gateway.close(), mails.close()]));
  const channel = { name: 'mail', kind: 'email', recipients: ['org_admins'] };
  const refused = await manage(gateway, 'POST', '/notifications/channels', channel);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /organization\.enabled/);
});
