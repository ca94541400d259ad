import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startMailServer, type MailServer } from '../support/http/mail-server.ts';
import { chatAnswer, json, startUpstream, type Arrived, type ScriptedUpstream } from '../support/upstream.ts';

const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
/** Costs 0.001 USD. */
const REQUEST = { model: 'acme/one', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };

interface Channel {
  readonly id: string;
  readonly url: string | null;
  readonly state: string;
  readonly enabled: boolean;
  readonly last_error: string | null;
}
interface NotificationEvent {
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly deliveries: readonly { readonly state: string; readonly attempts: number; readonly channel_id: string }[];
}

suite('notifications', () => {
  let upstream: ScriptedUpstream;
  let receiver: ScriptedUpstream;
  let mails: MailServer;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    receiver = await startUpstream(json(200, {}));
    mails = await startMailServer();
    gateway = await startGateway({
      notificationTickMs: 5,
      jobTimes: { tickMs: 5 },
      yaml: `
server: { public_url: "https://gateway.example/" }
notifications: { private_addresses: true, smtp: { host: 127.0.0.1, port: ${mails.port}, plain: true, from: "Gateway <gateway@example.com>" } }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
`,
    });
  });
  after(async () => {
    await gateway.close();
    await Promise.all([upstream.close(), receiver.close(), mails.close()]);
  });
  beforeEach(async () => {
    const { data } = await manage<{ data: Channel[] }>('GET', '/notifications/channels');
    for (const { id } of data) await manage('DELETE', `/notifications/channels/${id}`);
    receiver.arrived.length = 0;
    receiver.script = json(200, {});
    mails.lines.length = 0;
  });

  async function call(method: string, path: string, body?: object): Promise<Response> {
    return fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
  async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const response = await call(method, path, body);
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  }
  const addChannel = (more: object = {}) =>
    manage<{ data: Channel; secret?: string }>('POST', '/notifications/channels', {
      name: `hook ${Math.random()}`,
      kind: 'webhook',
      url: `${receiver.baseUrl}/hook`,
      ...more,
    });
  const addKey = async (limit: number, name = 'ci') => {
    const { data, key } = await manage<{ data: { hash: string }; key: string }>('POST', '/keys', { name, limit });
    return { hash: data.hash, key };
  };
  const spend = async (key: string, requests = 1): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    const answers = await Promise.all(
      Array.from({ length: requests }, () => gateway.post('/chat/completions', REQUEST, headers)),
    );
    for (const answer of answers) await answer.text();
    return answers.filter(({ ok }) => ok).length;
  };
  const eventsOf = async (type: string) =>
    (await manage<{ data: NotificationEvent[] }>('GET', '/notifications/events')).data.filter(
      (one) => one.type === type,
    );

  // @spec notification-1, notification-2
  test('reports a limit that is reached once, signed, and again after the limit was raised', async () => {
    const { data: channel, secret } = await addChannel();
    assert.match(secret ?? '', /^whsec_/);
    assert.equal(channel.url, `${new URL(receiver.baseUrl).origin}/***`);
    const { hash, key } = await addKey(0.005);
    await spend(key, 4);
    const [first] = await arrivals(receiver, 1);
    assert.ok(first);
    const event = new Webhook(secret ?? '').verify(first.text, first.headers as Record<string, string>) as {
      type: string;
      data: Record<string, unknown>;
    };
    assert.deepEqual(
      [event.type, event.data['severity'], event.data['subject']],
      ['key.limit', 'warning', `key:${hash}`],
    );
    assert.equal(event.data['title'], `The key "ci" (${await labelOf(hash)}) has spent 80 % of its limit`);
    assert.equal(event.data['link'], `https://gateway.example/ui/keys/${hash}`);
    assert.ok(!first.text.includes(key));
    await spend(key);
    const [, second] = await arrivals(receiver, 2);
    assert.match(second?.text ?? '', /"severity":"critical"/);
    await manage('PATCH', `/keys/${hash}`, { limit: 0.006 });
    await spend(key);
    const seen = await arrivals(receiver, 3);
    assert.deepEqual(
      seen.map(
        ({ body }) => ((body['data'] as Record<string, unknown>)['values'] as Record<string, unknown>)['percent'],
      ),
      [80, 100, 100],
    );
    await settled(receiver);
    assert.equal(receiver.arrived.length, 3);
  });

  const labelOf = async (hash: string) =>
    (await manage<{ data: { label: string } }>('GET', `/keys/${hash}`)).data.label;

  // @spec notification-2
  test('reports 100 % alone when one charge reaches 80 and 100, however many requests follow', async () => {
    await addChannel();
    const { key } = await addKey(0.001);
    await spend(key, 1);
    await arrivals(receiver, 1);
    for (let round = 0; round < 3; round++) await spend(key, 20);
    await settled(receiver);
    assert.equal(receiver.arrived.length, 1);
    assert.equal(receiver.arrived[0]?.body['type'], 'key.limit');
  });

  // @spec notification-5
  test('tries a failing address again, shows it as failing, and gives up what it refuses', async () => {
    receiver.script = json(400, { error: 'no' });
    const { data } = await addChannel();
    const { key } = await addKey(0.001);
    await spend(key);
    await arrivals(receiver, 1);
    await until(
      async () =>
        (await manage<{ data: Channel }>('GET', `/notifications/channels/${data.id}`)).data.last_error !== null,
    );
    const [event] = await eventsOf('key.limit');
    assert.deepEqual(
      event?.deliveries.map(({ state, attempts }) => [state, attempts]),
      [['queued', 1]],
    );
    const { data: failing } = await manage<{ data: Channel }>('GET', `/notifications/channels/${data.id}`);
    assert.equal(failing.last_error, 'The address answered with 400.');
  });

  // @spec notification-6
  test('switches a channel off at once where its address is gone, and reports it to the others', async () => {
    receiver.script = (arrived, response) => {
      response.writeHead(arrived.path === '/v1/gone' ? 410 : 200).end();
    };
    const { data: gone } = await addChannel({ url: `${receiver.baseUrl}/gone` });
    await addChannel({ events: ['webhook.disabled'] });
    const { key } = await addKey(0.001);
    await spend(key);
    const [, second] = await arrivals(receiver, 2);
    assert.equal(second?.body['type'], 'webhook.disabled');
    const { data } = await manage<{ data: Channel }>('GET', `/notifications/channels/${gone.id}`);
    assert.deepEqual([data.state, data.enabled], ['disabled', false]);
    const { data: enabled } = await manage<{ data: Channel }>('PATCH', `/notifications/channels/${gone.id}`, {
      enabled: true,
    });
    assert.deepEqual([enabled.state, enabled.enabled], ['ok', true]);
  });

  // @spec notification-7
  test('sends an event again under its id, and a test once a minute', async () => {
    const { data } = await addChannel();
    const { key } = await addKey(0.001);
    await spend(key);
    const [first] = await arrivals(receiver, 1);
    await until(async () => (await eventsOf('key.limit'))[0]?.deliveries[0]?.state === 'sent');
    const [event] = await eventsOf('key.limit');
    await manage('POST', `/notifications/events/${event?.id}/resend`);
    const [, second] = await arrivals(receiver, 2);
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
    const tested = await manage<{ data: object }>('POST', `/notifications/channels/${data.id}/test`);
    assert.deepEqual(tested.data, { ok: true, status: 200, error: null });
    assert.equal((await call('POST', `/notifications/channels/${data.id}/test`)).status, 429);
    assert.equal((await call('POST', '/notifications/events/evt_none/resend')).status, 404);
  });

  // @spec notification-3
  test('signs with the secret before, too, for a day after it was rotated', async () => {
    const { data, secret: old } = await addChannel();
    const { secret } = await manage<{ secret: string }>('PATCH', `/notifications/channels/${data.id}`, {
      rotate_secret: true,
      url: data.url,
    });
    assert.notEqual(secret, old);
    await manage('POST', `/notifications/channels/${data.id}/test`);
    const [one] = await arrivals(receiver, 1);
    for (const each of [secret, old ?? ''])
      assert.doesNotThrow(() => new Webhook(each).verify(one?.text ?? '', one?.headers as Record<string, string>));
  });

  test('mails each recipient, with names that are nothing but text', async () => {
    await addChannel({ kind: 'email', url: undefined, recipients: ['one@example.com', 'two@example.com'] });
    const { key } = await addKey(0.001, '<!channel> <b>=cmd\r\nBcc: x@example.com');
    await spend(key);
    await until(() => mails.lines.filter((line) => line.startsWith('RCPT TO')).length === 2);
    await until(() => mails.lines.filter((line) => line === '.').length === 2);
    const text = mails.lines.join('\n');
    assert.deepEqual(
      mails.lines.filter((line) => line.startsWith('RCPT TO')),
      ['RCPT TO:<one@example.com>', 'RCPT TO:<two@example.com>'],
    );
    assert.match(text, /^Auto-Submitted: auto-generated$/m);
    assert.doesNotMatch(text, /^Bcc:/m);
    assert.match(text, /&lt;b&gt;/);
    const [event] = await eventsOf('key.limit');
    assert.match(text, new RegExp(`^Message-ID: <${event?.id}@example.com>$`, 'm'));
  });

  test('refuses a channel that could never work, with the member that is wrong', async () => {
    const refused = async (body: object): Promise<string> => {
      const response = await call('POST', '/notifications/channels', { name: 'x', ...body });
      const { error } = (await response.json()) as { error: { message: string } };
      return `${response.status} ${error.message}`;
    };
    assert.match(await refused({ kind: 'webhook' }), /^400 url: is needed/);
    assert.match(await refused({ kind: 'email' }), /^400 recipients: is needed/);
    assert.match(await refused({ kind: 'fax', url: 'https://a.test' }), /^400 kind:/);
    assert.match(await refused({ kind: 'slack', url: 'https://169.254.169.254/x' }), /^400 url: cannot be called/);
    assert.match(await refused({ kind: 'slack', url: 'https://a.test', events: ['Key limit'] }), /^400 events\[0\]:/);
    assert.match(
      await refused({
        kind: 'slack',
        url: 'https://a.test',
        quiet_hours: { tz: 'Mars/Base', from: '22:00', to: '07:00' },
      }),
      /^400 quiet_hours\.tz: must be a time zone/,
    );
    await addChannel({ name: 'taken' });
    assert.match(await refused({ name: 'taken', kind: 'slack', url: 'https://a.test' }), /^409 name:/);
  });
});

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_000 && !(await isSo()); tries++) await pause(5);
  assert.ok(await isSo());
}

async function arrivals(receiver: ScriptedUpstream, count: number): Promise<readonly Arrived[]> {
  await until(() => receiver.arrived.length >= count);
  return receiver.arrived;
}

/** Until several looks have found nothing new. */
async function settled(receiver: ScriptedUpstream): Promise<void> {
  for (let seen = -1; seen !== receiver.arrived.length; await pause(60)) seen = receiver.arrived.length;
}
