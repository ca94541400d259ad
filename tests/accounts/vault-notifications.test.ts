import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { startMailServer } from '../support/http/mail-server.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

async function setUp(t: TestContext, yaml: string): Promise<Call> {
  const gateway = await startGateway({ yaml: `vault: { allow_private_hosts: true }\n${yaml}` });
  t.after(() => gateway.close());
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(gateway.baseUrl + path, { method, headers, ...sent });
    return { status: response.status, text: await response.text() };
  };
}

/** Lists the paths that it was called at. */
async function startReceiver(t: TestContext): Promise<{ readonly paths: string[]; readonly port: number }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => response.end('ok'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens at a port has such an address.
  return { paths, port: (server.address() as AddressInfo).port };
}

const secretAt = (name: string): string => `/vault/secrets/${name}?workspace_id=operator`;

async function makeChannel(call: Call, channel: object): Promise<string> {
  const made = await call('POST', '/notifications/channels', channel);
  assert.equal(made.status, 201, made.text);
  const { data }: { data: { id: string } } = JSON.parse(made.text);
  return data.id;
}

suite('secrets that notifications name', () => {
  // @spec vault-24
  test('are addresses of channels, called at their own hosts and shown as they are named', async (t) => {
    const receiver = await startReceiver(t);
    const call = await setUp(t, 'notifications: { private_addresses: true }');
    const hook = (path: string) => ({ value: `http://localhost:${receiver.port}/${path}`, hosts: ['localhost'] });
    const channel = { kind: 'slack', url: 'vault:hook' };
    const early = await call('POST', '/notifications/channels', { ...channel, name: 'early' });
    assert.equal(early.status, 400);
    assert.match(early.text, /"path":"url".*There is no secret/);
    await call('PUT', secretAt('hook'), { ...hook('T0/s3cret'), hosts: ['hooks.example'] });
    const elsewhere = await call('POST', '/notifications/channels', { ...channel, name: 'early' });
    assert.match(elsewhere.text, /is not sent to localhost/);
    assert.ok(!elsewhere.text.includes('s3cret'));
    await call('PUT', secretAt('hook'), hook('T0/s3cret'));
    const [first, second] = [
      await makeChannel(call, { ...channel, name: 'first' }),
      await makeChannel(call, { ...channel, name: 'second' }),
    ];
    const shown = await call('GET', `/notifications/channels/${first}`);
    assert.match(shown.text, /"url":"vault:hook"/);
    assert.match((await call('POST', `/notifications/channels/${first}/test`)).text, /"ok":true/);
    await call('PUT', secretAt('hook'), hook('T0/next'));
    assert.match((await call('POST', `/notifications/channels/${second}/test`)).text, /"ok":true/);
    assert.deepEqual(receiver.paths, ['/T0/s3cret', '/T0/next']);
    const refused = await call('DELETE', secretAt('hook'));
    assert.equal(refused.status, 409);
    assert.match(refused.text, /the notification channel first/);
    const releases = await call('GET', '/vault/releases?workspace_id=operator&name=hook');
    assert.match(releases.text, /"host":"localhost","caller":"notifications","verdict":"released"/);
  });

  // @spec vault-24
  test('are the password of the mail server, which counts with the next mail', async (t) => {
    const server = await startMailServer();
    const call = await setUp(
      t,
      `notifications: { smtp: { host: localhost, port: ${server.port}, plain: true, user: gateway, password: "vault:mail" } }`,
    );
    // The gateway has ended its connections by then.
    t.after(() => server.close());
    const channel = { kind: 'email', recipients: ['ops@example.com'] };
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push(await makeChannel(call, { ...channel, name }));
    const send = async (index: number) => (await call('POST', `/notifications/channels/${ids[index]}/test`)).text;
    assert.match(await send(0), /"ok":false.*There is no secret/);
    await call('PUT', secretAt('mail'), { value: 's3cret one', hosts: ['localhost'] });
    assert.match(await send(1), /"ok":true/);
    await call('PUT', secretAt('mail'), { value: 's3cret two', hosts: ['localhost'] });
    assert.match(await send(2), /"ok":true/);
    const logins = server.lines.filter((line) => line.startsWith('AUTH PLAIN '));
    assert.deepEqual(
      logins.map((line) => Buffer.from(line.slice('AUTH PLAIN '.length), 'base64').toString().split('\0').at(-1)),
      ['s3cret one', 's3cret two'],
    );
    assert.match((await call('DELETE', secretAt('mail'))).text, /notifications\.smtp\.password/);
  });
});
