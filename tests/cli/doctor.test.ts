import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startMailServer } from '../support/http/mail-server.ts';
import { runCli } from '../../src/cli/main.ts';

let folder = '';
let origin = '';
const upstream = createServer((message, answer) => {
  const works = message.headers.authorization === 'Bearer right-key';
  answer.writeHead(works ? 200 : 401, { 'content-type': 'application/json' });
  answer.end(JSON.stringify(works ? { data: [{ id: 'one' }] } : { error: { message: 'who are you?' } }));
});

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});

after(async () => {
  upstream.close();
  upstream.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
});

async function doctor(yaml: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const config = join(folder, 'gateway.yaml');
  await writeFile(config, yaml);
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { env, stdin, stdout, stderr };
  const code = await runCli(['doctor', '--config', config, '--data-dir', join(folder, 'data'), ...args], io);
  const read = (stream: PassThrough): string => String(stream.setEncoding('utf8').read() ?? '');
  return { code, stdout: read(stdout), stderr: read(stderr) };
}

const alpha = (key: string): string =>
  `  alpha: { adapter: openai-compatible, base_url: ${origin}/v1, api_key: ${key} }\n`;

test('prints a line for each check, and exits with 0', async () => {
  const { code, stdout } = await doctor(`providers:\n${alpha('right-key')}`);
  assert.equal(code, 0);
  assert.match(stdout, /^ok {6}configuration {4}.*gateway\.yaml$/m);
  assert.match(stdout, /^ok {6}data directory {3}/m);
  assert.match(stdout, /^ok {6}alpha {12}The key works; one model is listed\.$/m);
  assert.match(stdout, /^ok {6}clock {12}It agrees with the providers\.$/m);
});

test('exits with 1 when one provider fails, and checks the others', async () => {
  const yaml = `providers:\n${alpha('wrong-key')}${alpha('right-key').replace('alpha', 'beta')}`;
  const { code, stdout } = await doctor(yaml);
  assert.equal(code, 1);
  assert.match(stdout, /^FAILED {2}alpha {12}The key was refused \(401: who are you\?\)\./m);
  assert.match(stdout, /^ok {6}beta /m);
  assert.ok(!stdout.includes('wrong-key'));
});

test('fails when the folder of stored files is not writable', async () => {
  const good = await doctor(`files: { directory: ${join(folder, 'stored')} }\nproviders:\n${alpha('right-key')}`);
  assert.equal(good.code, 0);
  assert.match(good.stdout, /^ok {6}stored files {5}.*stored can be written to\.$/m);
  const inFile = join(folder, 'gateway.yaml', 'stored');
  const bad = await doctor(`files: { directory: ${inFile} }\nproviders:\n${alpha('right-key')}`);
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /^FAILED {2}stored files {5}.* cannot be written to \(ENOTDIR\)/m);
});

test('logs in at the mail server, and fails where that offers no login', async (t) => {
  for (const offersLogin of [true, false]) {
    const server = await startMailServer({ offersLogin });
    t.after(() => server.close());
    const smtp = `{ host: 127.0.0.1, port: ${server.port}, plain: true, user: gateway, password: a-password }`;
    const { code, stdout } = await doctor(`notifications: { smtp: ${smtp} }\nproviders:\n${alpha('right-key')}`);
    assert.equal(code, offersLogin ? 0 : 1, stdout);
    const line = offersLogin ? /^ok {6}mail .* takes the login of gateway\.$/m : /^FAILED {2}mail .* offers no login/m;
    assert.match(stdout, line);
    assert.ok(!server.lines.some((each) => each.startsWith('MAIL')));
    assert.ok(!stdout.includes('a-password'));
  }
});

test('checks only the providers that are named', async () => {
  const yaml = `providers:\n${alpha('wrong-key')}${alpha('right-key').replace('alpha', 'beta')}`;
  const { code, stdout } = await doctor(yaml, ['beta']);
  assert.equal(code, 0);
  assert.ok(!stdout.includes('alpha'));
});

test('rejects an unknown provider as a wrong call', async () => {
  const { code, stderr } = await doctor(`providers:\n${alpha('right-key')}`, ['gamma']);
  assert.equal(code, 2);
  assert.match(stderr, /^gamma: no such provider is configured; there are alpha/);
});

test('reports an invalid configuration like the start does', async () => {
  const { code, stderr } = await doctor('providers:\n  b: { adapter: bedrock, options: { regoin: us-east-1 } }\n');
  assert.equal(code, 1);
  assert.match(stderr, /gateway\.yaml:2: providers\.b\.options\.regoin: unknown key; did you mean "region"\?/);
});

test('warns about a model of the configuration without a provider', async () => {
  const { code, stdout } = await doctor('defaults: { model: acme/one }\nmoderation: { judge: sandbox/json }\n');
  assert.equal(code, 0);
  assert.match(stdout, /^warning configuration {4}defaults\.model is acme\/one, which no provider .* serves\.$/m);
  assert.ok(!stdout.includes('moderation.judge'));
});

test('warns about a provider that has only half of its variables', async () => {
  const { code, stdout } = await doctor('', [], { AZURE_OPENAI_API_KEY: 'k' });
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^warning azure {12}AZURE_OPENAI_API_KEY is set, but AZURE_OPENAI_ENDPOINT is not, so this provider is off\.$/m,
  );
});

suite('an MCP server', () => {
  const script = fileURLToPath(new URL('../support/mcp/stdio-server.ts', import.meta.url));
  const server = (name: string, mode: string, more = ''): string =>
    `  ${name}: { command: "${process.execPath}", args: ["${script}", ${mode}], env: { MCP_TOKEN: its-own-secret }${more} }\n`;

  test('is listed with its version and the number of its tools', async () => {
    const yaml = `mcp_servers:\n${server('tests', 'new')}${server('narrow', 'old', ', tools: [add, "e*"]')}${server('off', 'broken', ', enabled: false')}`;
    const { code, stdout } = await doctor(yaml);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^ok {6}mcp tests {8}test-server 1\.2\.3 answers; 10 tools\.$/m);
    assert.match(stdout, /^ok {6}mcp narrow {7}test-server 1\.2\.3 answers; 10 tools, of which 3 are offered\.$/m);
    assert.doesNotMatch(stdout, /mcp off/);
  });

  test('is reported with the reason and its last output, without its secrets, when it fails', async () => {
    const yaml = `mcp_servers:
${server('broken', 'broken')}  missing: { command: /no/such/command }
  npm: { command: /bin/sh, args: [-c, 'echo "npm error code E404" >&2; echo "npm error 404 Not Found - GET https://registry.example/x" >&2; echo "npm error A complete log of this run can be found in: /x" >&2; exit 1'] }
  closed: { url: "http://127.0.0.1:2/mcp", headers: { authorization: Bearer its-own-secret } }
`;
    const { code, stdout } = await doctor(yaml);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^FAILED {2}mcp broken {7}The process ended with exit code 7\..* Its last words: ready with \[redacted\]$/m,
    );
    assert.match(stdout, /^FAILED {2}mcp missing {6}spawn \/no\/such\/command ENOENT/m);
    assert.match(
      stdout,
      /^FAILED {2}mcp npm {10}.* Its last words: npm error 404 Not Found - GET https:\/\/registry\.example\/x$/m,
    );
    assert.match(stdout, /^FAILED {2}mcp closed {7}.*ECONNREFUSED/m);
    assert.doesNotMatch(stdout, /its-own-secret/);
  });
});

test('warns of default models that do not do what they are for, and of vectors that may not compare', async () => {
  const models = `models:
  a/talks: { output_modalities: [text], endpoints: [{ provider: alpha, model: one }] }
  a/vectors:
    output_modalities: [embeddings]
    endpoints: [{ provider: alpha, model: one, quantization: fp8 }, { provider: alpha, model: two, quantization: bf16 }]
`;
  const defaults = 'defaults: { speech_model: a/talks, embeddings_model: a/vectors, rerank_model: a/none }\n';
  const { code, stdout } = await doctor(`providers:\n${alpha('right-key')}${models}${defaults}`);
  assert.equal(code, 0);
  assert.match(stdout, /defaults\.speech_model is a\/talks, which does not write speech\./);
  assert.match(stdout, /defaults\.rerank_model is a\/none, which no provider .* serves\./);
  assert.match(stdout, /models\.a\/vectors has endpoints of fp8 and bf16: their vectors may not compare\./);
  assert.doesNotMatch(stdout, /embeddings_model/);
});

// @spec container-2
test('reports containers that stay off, and why', async () => {
  const { code, stdout } = await doctor('containers: { runtime: auto }');
  assert.equal(code, 1);
  const why = process.platform === 'linux' ? 'containers\\.rootfs is not set' : 'on Linux alone';
  assert.match(stdout, new RegExp(`FAILED +containers +They stay off: .*${why}`));
});
