import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { makeFolder, ROOT, runCli } from '../support/spawn-cli.ts';

test('a wrong command line is one sentence on standard error and exit code 2', async (t) => {
  assert.deepEqual(await runCli(t, ['srve'], { cwd: makeFolder(t) }), {
    code: 2,
    signal: null,
    stdout: '',
    stderr: 'srve: unknown command; did you mean "serve"?\n',
  });
});

test('--version prints the version of the package', async (t) => {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.ok(typeof manifest === 'object' && manifest !== null && 'version' in manifest);
  const { code, stdout } = await runCli(t, ['--version']);
  assert.deepEqual([code, stdout], [0, `${String(manifest.version)}\n`]);
});

test('help without a command lists the commands', async (t) => {
  const { code, stdout } = await runCli(t, ['--help']);
  assert.equal(code, 0);
  for (const command of ['serve', 'keys', 'generations', 'config', 'doctor', 'chat', 'sandbox'])
    assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
});

test('a command may have help of its own', async (t) => {
  const { code, stdout } = await runCli(t, ['help', 'sandbox']);
  assert.equal(code, 0);
  assert.match(stdout, /--port/);
});

suite('config check', () => {
  test('prints what is in effect without the secrets', async (t) => {
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

  test('warns of endpoints that nobody has a key for, by provider, variable and endpoint', async (t) => {
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
      'warning: The provider groq has no credentials: set GROQ_API_KEY, or providers.groq.api_key. Until then it is never asked.',
      'warning: The provider anthropic has no credentials: set ANTHROPIC_API_KEY, or providers.anthropic.api_key. Until then these endpoints are never asked: acme/one (claude-x), near/*.',
      '',
    ]);
  });

  test('says what is wrong and where, and exits 1', async (t) => {
    const cwd = makeFolder(t);
    writeFileSync(join(cwd, 'other.yaml'), 'models:\n  a/b:\n    endpoints:\n      - { provider: opnai, model: m }\n');
    const { code, stdout, stderr } = await runCli(t, ['config', 'check', '--config', 'other.yaml'], { cwd });
    assert.deepEqual(
      [code, stdout, stderr],
      [1, '', 'other.yaml:4: models.a/b.endpoints[0].provider: unknown provider "opnai"; did you mean "openai"?\n'],
    );
  });
});
