import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startHashicorpServer, type HashicorpServer } from '../support/services/hashicorp-server.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const TOKEN = 'hvs.s3cret-token';
const VALUE = 's3cret-canary-0123456789';

interface Bench {
  readonly gateway: RunningGateway;
  readonly upstream: ScriptedUpstream;
  call(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** The key that the provider got with a request. */
  sentKey(): Promise<string>;
}

async function setUp(t: TestContext, backEnd: string): Promise<Bench> {
  const upstream = await startUpstream(json(200, chatAnswer('fine')));
  t.after(() => upstream.close());
  const { port } = new URL(upstream.baseUrl);
  const gateway = await startGateway({
    yaml: `
vault:
  allow_private_hosts: true
  writers: any
${backEnd}
providers:
  alpha: { adapter: openai-compatible, base_url: "http://localhost:${port}/v1", api_key: "vault:alpha_key" }
models: { acme/one: { endpoints: [{ provider: alpha, model: one }] } }
`,
  });
  t.after(() => gateway.close());
  return {
    gateway,
    upstream,
    async call(method, path, body, key = MANAGEMENT_KEY) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(gateway.baseUrl + path, { method, headers, ...sent });
      return { status: response.status, text: await response.text() };
    },
    async sentKey() {
      const before = upstream.arrived.length;
      await gateway.post('/chat/completions', { model: 'acme/one', messages: [{ role: 'user', content: 'hi' }] });
      return String(upstream.arrived[before]?.headers['authorization']);
    },
  };
}

async function startServer(t: TestContext): Promise<HashicorpServer> {
  const server = await startHashicorpServer();
  t.after(() => server.close());
  server.policies.set(TOKEN, { path: 'gateway/', writes: true });
  return server;
}

const hashicorpAt = (server: HashicorpServer, more = ''): string =>
  `  backend: hashicorp\n  hashicorp: { address: "${server.url}", token: ${TOKEN}${more} }`;

const OPERATORS = '/vault/secrets/alpha_key?workspace_id=operator';

suite('values outside of the database', () => {
  // @spec vault-22
  test('are stored at HashiCorp Vault, sent from there, and removed with the secret', async (t) => {
    const server = await startServer(t);
    const bench = await setUp(t, hashicorpAt(server, ', writes: true'));
    const stored = await bench.call('PUT', OPERATORS, { value: VALUE, hosts: ['localhost'] });
    assert.equal(stored.status, 200, stored.text);
    assert.match(stored.text, /"fingerprint":null,"backend":"hashicorp","external":"operator\/alpha_key#value"/);
    assert.deepEqual(server.data.get('gateway/operator/alpha_key'), { value: VALUE });
    assert.equal(await bench.sentKey(), `Bearer ${VALUE}`);
    const listed = await bench.call('GET', '/vault/secrets?workspace_id=operator');
    const config = await bench.call('GET', '/config');
    for (const { text } of [stored, listed, config]) assert.ok(!text.includes(VALUE) && !text.includes(TOKEN), text);
    assert.equal((await bench.call('DELETE', `${OPERATORS}&force=true`)).status, 204);
    assert.equal(server.data.has('gateway/operator/alpha_key'), false);
  });

  // @spec vault-23
  test('are named by their place with a management key alone, and only where there is one', async (t) => {
    const server = await startServer(t);
    const bench = await setUp(t, hashicorpAt(server));
    server.data.set('gateway/team/alpha', { key: VALUE });
    const named = { external: 'team/alpha#key', hosts: ['localhost'] };
    const own = '/vault/secrets/alpha_key';
    const refused = await bench.call('PUT', own, named, API_KEY);
    assert.equal(refused.status, 403, 'a workspace could send a secret of another to a host of its choice');
    for (const [body, words] of [
      [{ hosts: ['localhost'], value: VALUE }, /read-only/],
      [{ hosts: ['localhost'] }, /"path":"value"/],
      [{ ...named, value: VALUE }, /"path":"external"/],
      [{ ...named, external: '../other#key' }, /must be a path below/],
      [{ ...named, external: 'team/alpha#other' }, /has no value/],
    ] as const) {
      const answer = await bench.call('PUT', OPERATORS, body);
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, words);
    }
    assert.equal((await bench.call('PUT', OPERATORS, named)).status, 200);
    assert.equal(await bench.sentKey(), `Bearer ${VALUE}`);
    assert.equal((await bench.call('DELETE', `${OPERATORS}&force=true`)).status, 204);
    assert.deepEqual(server.data.get('gateway/team/alpha'), { key: VALUE }, 'what others keep there stays');
    const writing = await setUp(t, hashicorpAt(server, ', writes: true'));
    await writing.call('PUT', OPERATORS, { value: 'replaced', hosts: ['localhost'] });
    assert.ok(server.data.has('gateway/operator/alpha_key'));
    assert.equal((await writing.call('PUT', OPERATORS, named)).status, 200);
    assert.equal(server.data.has('gateway/operator/alpha_key'), false, 'nothing names it any more');
    server.isSealed = true;
    const away = await bench.call('PUT', OPERATORS, named);
    assert.equal(away.status, 502, away.text);
    assert.match(away.text, /sealed/);
  });

  // @spec vault-22
  test('of files are read where they are mounted, and fail the call when they are not', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'mounted-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'alpha-key'), `${VALUE}\n`);
    const bench = await setUp(t, `  backend: file\n  file: { dir: "${folder}" }`);
    const put = { external: 'alpha-key', hosts: ['localhost'] };
    assert.equal((await bench.call('PUT', OPERATORS, { value: VALUE, hosts: ['localhost'] })).status, 400);
    assert.equal((await bench.call('PUT', OPERATORS, put)).status, 200);
    assert.equal(await bench.sentKey(), `Bearer ${VALUE}`);
    await rm(join(folder, 'alpha-key'));
    // Any change empties what is in memory.
    await writeFile(join(folder, 'beta'), 'another value');
    await bench.call('PUT', '/vault/secrets/beta', { external: 'beta', hosts: ['a.example'] });
    const sent = bench.upstream.arrived.length;
    const failed = await bench.gateway.post('/chat/completions', {
      model: 'acme/one',
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(failed.status, 502);
    assert.equal(bench.upstream.arrived.length, sent);
  });

  test('leave no copy in the data directory', async (t) => {
    const server = await startServer(t);
    const bench = await setUp(t, hashicorpAt(server, ', writes: true'));
    await bench.call('PUT', OPERATORS, { value: VALUE, hosts: ['localhost'] });
    assert.equal(await bench.sentKey(), `Bearer ${VALUE}`);
    for (const name of await readdir(bench.gateway.dataDir)) {
      const bytes = await readFile(join(bench.gateway.dataDir, name)).catch(() => Buffer.alloc(0));
      assert.ok(!bytes.includes(VALUE) && !bytes.includes(TOKEN), name);
    }
  });
});
