import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { hashKey } from '../../src/accounts/keys/key-format.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { isJsonObject } from '../../src/lib/json.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const ONE = 's3cret-canary-one-0123456789';
const OTHER = 's3cret-canary-other-0123456789';

/** A chat upstream at `localhost`: addresses can be no hosts of a secret. */
async function setUp(
  t: TestContext,
  yamlOf: (port: string) => string,
): Promise<{ readonly gateway: RunningGateway; readonly upstream: ScriptedUpstream; readonly call: Call }> {
  const upstream = await startUpstream(json(200, chatAnswer('fine')));
  t.after(() => upstream.close());
  const gateway = await startGateway({
    yaml: `vault: { allow_private_hosts: true }\n${yamlOf(new URL(upstream.baseUrl).port)}`,
  });
  t.after(() => gateway.close());
  const call: Call = async (method, path, body) => {
    const response = await fetch(gateway.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${MANAGEMENT_KEY}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  return { gateway, upstream, call };
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly text: string }>;

const providerAt = (port: string, host = 'localhost'): string => `
providers:
  alpha:
    adapter: openai-compatible
    base_url: "http://${host}:${port}/v1"
    api_key: vault:alpha_key
    headers: { x-tenant: "t \${vault:tenant}", x-plain: plain }
models: { acme/one: { endpoints: [{ provider: alpha, model: one }] } }
`;

const ask = (gateway: RunningGateway) =>
  gateway.post('/chat/completions', { model: 'acme/one', messages: [{ role: 'user', content: 'hi' }] });

const put = (call: Call, name: string, value: string, hosts = ['localhost'], scope = 'operator') =>
  call('PUT', `/vault/secrets/${name}?workspace_id=${scope}`, { value, hosts });

suite('secrets of the vault that providers name', () => {
  // @spec vault-8, vault-9, vault-14
  test('are sent with each call, as they are now, and counted', async (t) => {
    const { gateway, upstream, call } = await setUp(t, providerAt);
    await put(call, 'alpha_key', ONE);
    await put(call, 'tenant', 'seven77');
    assert.equal((await ask(gateway)).status, 200);
    await put(call, 'alpha_key', OTHER);
    assert.equal((await ask(gateway)).status, 200);
    const seen = upstream.arrived.map(({ headers }) => [
      headers['authorization'],
      headers['x-tenant'],
      headers['x-plain'],
    ]);
    assert.deepEqual(seen, [
      [`Bearer ${ONE}`, 't seven77', 'plain'],
      [`Bearer ${OTHER}`, 't seven77', 'plain'],
    ]);
    const releases = await call('GET', '/vault/releases?workspace_id=operator&name=alpha_key');
    assert.match(releases.text, /"host":"localhost","caller":"provider:alpha","verdict":"released","count":2/);
    const { data } = JSON.parse(releases.text);
    assert.equal(data[0].key_hash, hashKey(API_KEY), 'the key whose requests they served');
    assert.match((await call('GET', '/vault/secrets?workspace_id=operator')).text, /"last_released_at":"2/);
    const config = await call('GET', '/config');
    for (const value of [ONE, OTHER, 'seven77']) assert.ok(!config.text.includes(value));
  });

  // @spec vault-10
  test('are not sent to another host, nor where one of them is missing', async (t) => {
    const { gateway, upstream, call } = await setUp(t, providerAt);
    await put(call, 'alpha_key', ONE);
    assert.equal((await ask(gateway)).status, 502, 'the tenant is missing');
    await put(call, 'tenant', 'seven77', ['other.example']);
    assert.equal((await ask(gateway)).status, 502, 'the tenant is for another host');
    assert.deepEqual(upstream.arrived, []);
    const releases = await call('GET', '/vault/releases?name=tenant');
    assert.match(releases.text, /"verdict":"refused"/);
    assert.doesNotMatch(releases.text, /"verdict":"released"/);
  });

  // @spec vault-5
  test('are not repeated where the provider does', async (t) => {
    const { gateway, upstream, call } = await setUp(t, providerAt);
    await put(call, 'alpha_key', ONE);
    await put(call, 'tenant', 'seven77');
    upstream.script = json(400, { error: { message: `Incorrect key ${ONE} provided` } });
    const response = await ask(gateway);
    const text = await response.text();
    assert.equal(response.status, 400, text);
    assert.match(text, /Incorrect key/);
    assert.ok(!text.includes(ONE), text);
  });
});

suite('secrets of the vault that credentials of an account name', () => {
  const yaml = (port: string): string => `
providers: { alpha: { adapter: openai-compatible, base_url: "http://localhost:${port}/v1", api_key: shared-key-0123456789 } }
models: { acme/one: { endpoints: [{ provider: alpha, model: one }] } }
`;

  // @spec vault-15
  test('are resolved in the workspace of the credential, and bound to the host of the provider', async (t) => {
    const { gateway, upstream, call } = await setUp(t, yaml);
    const bring = () => call('POST', '/byok', { provider: 'alpha', key: 'vault:mine' });
    const missing = await bring();
    assert.equal(missing.status, 400, missing.text);
    assert.match(missing.text, /There is no secret/);
    const { text } = await call('GET', '/workspaces');
    const id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
    await put(call, 'mine', ONE, ['other.example'], id);
    assert.match((await bring()).text, /not among its hosts/);
    await put(call, 'mine', ONE, ['localhost'], id);
    const brought = await bring();
    assert.equal(brought.status, 201, brought.text);
    assert.match(brought.text, /"label":"vault:mine"/);
    await ask(gateway);
    await put(call, 'mine', OTHER, ['localhost'], id);
    await ask(gateway);
    assert.deepEqual(
      upstream.arrived.map(({ headers }) => headers['authorization']),
      [`Bearer ${ONE}`, `Bearer ${OTHER}`],
    );
    const refused = await call('DELETE', `/vault/secrets/mine?workspace_id=${id}`);
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /the credential .* of alpha/);
  });
});

/** Takes whatever is posted, and keeps the headers. */
async function startSink(
  t: TestContext,
): Promise<{ readonly url: string; readonly seen: IncomingMessage['headers'][] }> {
  const seen: IncomingMessage['headers'][] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers);
    request.resume();
    request.on('end', () => response.writeHead(200).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { url: `http://localhost:${(server.address() as AddressInfo).port}/hook`, seen };
}

suite('secrets of the vault that destinations name', () => {
  // @spec vault-16
  test('are sent to the address of the destination, and shown as references', async (t) => {
    const { call } = await setUp(t, () => 'observability: { private_destinations: true }');
    const { url, seen } = await startSink(t);
    const { text } = await call('GET', '/workspaces');
    const id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? '';
    const make = () =>
      call('POST', '/observability/destinations', {
        type: 'webhook',
        name: 'hook',
        config: { url, headers: { authorization: 'Bearer ${vault:hook}' } },
      });
    assert.match((await make()).text, /There is no secret/);
    await put(call, 'hook', ONE, ['localhost'], id);
    const made = await make();
    assert.equal(made.status, 201, made.text);
    assert.match(made.text, /\$\{vault:hook\}/);
    assert.equal(seen.at(0)?.authorization, `Bearer ${ONE}`);
    const refused = await call('DELETE', `/vault/secrets/hook?workspace_id=${id}`);
    assert.equal(refused.status, 409);
    assert.match(refused.text, /the destination hook/);
  });
});

suite('secrets of the vault that MCP servers name', () => {
  // @spec vault-17
  test('are sent in headers to their host, and follow no redirect', async (t) => {
    const { url, seen } = await startSink(t);
    const elsewhere: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      elsewhere.push(request.headers['x-token']?.toString());
      response.writeHead(200).end('{}');
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    const redirecting = createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(307, { location: `http://127.0.0.1:${port}/mcp` }).end();
    });
    redirecting.listen(0, '127.0.0.1');
    await once(redirecting, 'listening');
    t.after(() => redirecting.close());
    const mcp = `http://localhost:${(redirecting.address() as AddressInfo).port}/mcp`;
    const { call } = await setUp(
      t,
      () => `mcp_servers: { wiki: { url: "${mcp}", headers: { x-token: "\${vault:wiki}" } } }`,
    );
    await put(call, 'wiki', ONE);
    const listed = await call('GET', '/mcp_servers');
    assert.equal(listed.status, 200);
    assert.ok(!listed.text.includes(ONE));
    assert.equal(seen.at(0)?.['x-token'], ONE, url);
    assert.deepEqual(elsewhere, []);
    assert.match((await call('GET', '/vault/releases?name=wiki')).text, /"caller":"mcp:wiki","verdict":"released"/);
  });
});

suite('secrets of the vault that processes of MCP servers get', () => {
  // @spec vault-11
  test('are in their environment when they start', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'vault-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'seen');
    const { call } = await setUp(
      t,
      () =>
        `mcp_servers: { local: { command: sh, args: ["-c", "echo $TOKEN > ${file}"], env: { TOKEN: "vault:local" } } }`,
    );
    await put(call, 'local', ONE, ['unrelated.example']);
    const listed = await call('GET', '/mcp_servers');
    assert.equal(await readFile(file, 'utf8'), `${ONE}\n`);
    assert.ok(!listed.text.includes(ONE));
    assert.match((await call('GET', '/vault/releases?name=local')).text, /"host":"a process of the gateway"/);
  });
});

suite('references to the vault in the configuration', () => {
  // @spec vault-9
  test('are refused at the start where no secret can have the name', async () => {
    for (const yaml of [
      'providers: { alpha: { adapter: openai-compatible, base_url: "http://localhost/v1", api_key: "vault:Alpha" } }',
      'providers: { alpha: { adapter: openai-compatible, base_url: "http://localhost/v1", headers: { x: "${vault:a-b}" } } }',
      'search: { exa: { api_key: "vault:" } }',
    ])
      await assert.rejects(startGateway({ yaml }), /names no secret/, yaml);
  });

  // @spec vault-13
  test('that cannot be sent are logged at the start, which goes on', async (t) => {
    const { pino } = await import('pino');
    const lines: string[] = [];
    const general = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { createLog } = await import('../../src/telemetry/logs.ts');
    const gateway = await startGateway({ yaml: providerAt('9'), log: { ...createLog('silent'), general } });
    t.after(() => gateway.close());
    const found = lines
      .map((line): unknown => JSON.parse(line))
      .filter(isJsonObject)
      .map(({ path }) => path);
    assert.ok(
      found.includes('providers.alpha.api_key') && found.includes('providers.alpha.headers.x-tenant'),
      lines.join(''),
    );
  });
});
