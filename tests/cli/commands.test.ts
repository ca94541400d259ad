import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { makeFolder, ROOT, runCli } from '../support/cli/spawn-cli.ts';

test('reports a wrong command line in one sentence on standard error with exit code 2', async (t) => {
  assert.deepEqual(await runCli(t, ['srve'], { cwd: makeFolder(t) }), {
    code: 2,
    signal: null,
    stdout: '',
    stderr: 'srve: unknown command; did you mean "serve"?\n',
  });
});

test('prints the version of the package with --version', async (t) => {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.ok(typeof manifest === 'object' && manifest !== null && 'version' in manifest);
  const { code, stdout } = await runCli(t, ['--version']);
  assert.deepEqual([code, stdout], [0, `${String(manifest.version)}\n`]);
});

test('lists the commands with --help', async (t) => {
  const { code, stdout } = await runCli(t, ['--help']);
  assert.equal(code, 0);
  for (const command of ['serve', 'keys', 'generations', 'config', 'doctor', 'chat', 'sandbox'])
    assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
});

test('prints the help of a command', async (t) => {
  const { code, stdout } = await runCli(t, ['help', 'sandbox']);
  assert.equal(code, 0);
  assert.match(stdout, /--port/);
});

suite('config check', () => {
  test('prints the effective configuration without the secrets', async (t) => {
    const cwd = makeFolder(t);
    writeFileSync(
      join(cwd, 'gateway.yaml'),
      'server: { port: 1234 }\nproviders: { openai: { api_key: "${KEY}", headers: { x-a: hunter2 } } }\n',
    );
    const env = { KEY: 'hunter2', GATEWAY_API_KEY: 'hunter2' };
    const { code, stdout, stderr } = await runCli(t, ['config', 'check', '--host', '::1'], { cwd, env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^# file: gateway\.yaml$/m);
    assert.match(stdout, /^ {2}port: 1234$/m);
    assert.match(stdout, /^ {2}host: ::1$/m);
    assert.match(stdout, /api_key: \(redacted\)/);
    assert.ok(!stdout.includes('hunter2'));
  });

  test('warns about endpoints without a key, with provider, variable and endpoint', async (t) => {
    const cwd = makeFolder(t);
    writeFileSync(
      join(cwd, 'gateway.yaml'),
      `providers: { groq: {} }
models:
  acme/one: { endpoints: [{ provider: anthropic, model: claude-x }, { provider: openai, model: gpt-x }] }
  "near/*": { provider: anthropic }
  "local/*": { provider: ollama }
`,
    );
    const { code, stdout, stderr } = await runCli(t, ['config', 'check'], { cwd, env: { OPENAI_API_KEY: 'sk-1' } });
    assert.equal(code, 0);
    assert.match(stdout, /^# file: gateway\.yaml$/m);
    assert.deepEqual(stderr.split('\n'), [
      'warning: The provider groq has no credentials: set GROQ_API_KEY, or providers.groq.api_key. Until then it is never called.',
      'warning: The provider anthropic has no credentials: set ANTHROPIC_API_KEY, or providers.anthropic.api_key. Until then these endpoints are never called: acme/one (claude-x), near/*.',
      '',
    ]);
  });

  test('lists every error with file and line, including settings of adapters', async (t) => {
    const cwd = makeFolder(t);
    writeFileSync(
      join(cwd, 'gateway.yaml'),
      `server:
  port: 70000
providers:
  alpha: { adapter: openai-compatible }
  bravo: { adapter: openia }
  cloud:
    adapter: azure
    api_key: k
  delta: { adapter: groq, options: { speed: 1 } }
  echo: { adapter: google-vertex, options: { project: 7 } }
models:
  acme/one: { endpoints: [{ provider: nowhere, model: m, price: { prompt: -1, completion: 1 } }] }
`,
    );
    const { code, stdout, stderr } = await runCli(t, ['config', 'check'], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.deepEqual(stderr.split('\n'), [
      'gateway.yaml:2: server.port: must be at most 65535, not 70000',
      'gateway.yaml:4: providers.alpha.base_url: is required for the adapter openai-compatible',
      'gateway.yaml:5: providers.bravo.adapter: unknown adapter "openia"; did you mean "openai"?',
      'gateway.yaml:6: providers.cloud.options.resource: is required, or base_url, or AZURE_OPENAI_ENDPOINT in the environment',
      'gateway.yaml:9: providers.delta.options.speed: unknown key; known here: private_media, stored_files',
      'gateway.yaml:10: providers.echo.options.project: must be text, not a number',
      'gateway.yaml:12: models.acme/one.endpoints[0].price.prompt: must be at least 0, not -1',
      'gateway.yaml:12: models.acme/one.endpoints[0].provider: unknown provider "nowhere"; did you mean "cohere"?',
      '',
    ]);
  });

  test('says what is wrong and where, and exits with 1', async (t) => {
    const cwd = makeFolder(t);
    writeFileSync(join(cwd, 'other.yaml'), 'models:\n  a/b:\n    endpoints:\n      - { provider: opnai, model: m }\n');
    const { code, stdout, stderr } = await runCli(t, ['config', 'check', '--config', 'other.yaml'], { cwd });
    assert.deepEqual(
      [code, stdout, stderr],
      [1, '', 'other.yaml:4: models.a/b.endpoints[0].provider: unknown provider "opnai"; did you mean "openai"?\n'],
    );
  });
});
