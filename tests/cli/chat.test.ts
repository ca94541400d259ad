import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { makeFolder, runCli, startCli, startGateway } from '../support/cli/spawn-cli.ts';

suite('chat', () => {
  const cleanups: (() => unknown)[] = [];
  const env = { GATEWAY_API_KEY: 'test-key' };
  let url = '';

  before(async () => {
    const owner = { after: (clean?: unknown) => void (typeof clean === 'function' && cleanups.push(() => clean())) };
    ({ url } = await startGateway(owner, { env }));
  });
  after(async () => {
    for (const clean of cleanups) await clean();
  });

  test('prints one response to a message', async (t) => {
    const { code, stdout, stderr } = await runCli(t, ['chat', '--url', url, 'Hello,', 'gateway!'], { env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /Hello, gateway!\n$/);
  });

  test('speaks the responses format as well', async (t) => {
    const chat = ['chat', '--format', 'responses', '--url', url];
    const { code, stdout, stderr } = await runCli(t, [...chat, 'Hello,', 'gateway!'], { env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /Hello, gateway!\n$/);
    const broken = await runCli(t, [...chat, '--model', 'sandbox/cut', 'hello there'], { env });
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /^The response broke off: [^\n]+\n$/);
    const talk = startCli(t, [...chat, '--model', 'sandbox/reasoning'], { env });
    talk.child.stdin?.end('first\nsecond\n');
    assert.match((await talk.exited).stdout, /^first\nsecond\n$/);
  });

  for (const format of ['chat', 'responses'])
    test(`prints a response that comes as a whole: ${format}`, async (t) => {
      const chat = ['chat', '--no-stream', '--format', format, '--url', url];
      const { code, stdout, stderr } = await runCli(t, [...chat, '--model', 'sandbox/reasoning', 'Hello,', 'you!'], {
        env,
      });
      assert.deepEqual([code, stdout, stderr], [0, 'Hello, you!\n', '']);
      const refused = await runCli(t, [...chat, '--model', 'sandbox/error-429', 'hello'], { env });
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, /^The gateway answered 429: /);
    });

  test('uses the address of the configuration by default', async (t) => {
    const cwd = makeFolder(t);
    const { port } = new URL(url);
    writeFileSync(
      join(cwd, 'gateway.yaml'),
      `server: { port: ${port}, host: 0.0.0.0 }\nproviders: { openai: { api_key: "\${NOWHERE}" } }\n`,
    );
    assert.equal((await runCli(t, ['chat', 'Hello'], { env, cwd })).code, 0);
    const explained = await runCli(t, ['explain', '--model', 'sandbox/echo'], { env, cwd });
    assert.deepEqual([explained.code, explained.stderr], [0, '']);
    const elsewhere = { ...env, GATEWAY_CONFIG: join(cwd, 'gateway.yaml') };
    assert.equal((await runCli(t, ['chat', 'Hello'], { env: elsewhere, cwd: makeFolder(t) })).code, 0);
    assert.equal(
      (await runCli(t, ['chat', 'Hello'], { env: { ...env, GATEWAY_PORT: port }, cwd: makeFolder(t) })).code,
      0,
    );
  });

  test('accepts an address with /v1', async (t) => {
    assert.equal((await runCli(t, ['chat', '--url', `${url}/v1/`, 'Hello'], { env })).code, 0);
  });

  test('reads a conversation from the lines of its input', async (t) => {
    const chat = startCli(t, ['chat', '--url', url], { env });
    chat.child.stdin?.end('first\n\nsecond\n/exit\nthird\n');
    const { code, stdout } = await chat.exited;
    assert.equal(code, 0);
    assert.match(stdout, /first[^]*second/);
    assert.ok(!stdout.includes('third'));
  });

  test('leaves reasoning out of piped output', async (t) => {
    const { code, stdout } = await runCli(t, ['chat', '--url', url, '--model', 'sandbox/reasoning', 'why'], { env });
    assert.equal(code, 0);
    assert.ok(!stdout.includes('\u001b'), stdout);
    assert.notEqual(stdout.trim(), '');
  });

  test('reports a wrong key in one sentence', async (t) => {
    const { code, stdout, stderr } = await runCli(t, ['chat', '--url', url, '--key', 'wrong', 'hi']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^The gateway answered 401: [^\n]+\n$/);
  });

  test('reports an unknown model in one sentence', async (t) => {
    const { code, stderr } = await runCli(t, ['chat', '--url', url, '--model', 'no/such', 'hi'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^The gateway answered 404: [^\n]+\n$/);
  });

  test('prints a response that breaks off as far as it came, and fails', async (t) => {
    const { code, stderr } = await runCli(t, ['chat', '--url', url, '--model', 'sandbox/cut', 'hello there'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^The response broke off: [^\n]+\n$/);
  });

  test('stops a response at Ctrl-C', async (t) => {
    const args = ['chat', '--url', url, '--model', 'sandbox/long', 'tokens=2000 every=20'];
    const chat = startCli(t, args, { env });
    await chat.until(/\w/);
    chat.child.kill('SIGINT');
    assert.equal((await chat.exited).code, 130);
  });
});

test('says how to start a gateway when there is none', async (t) => {
  const { code, stderr } = await runCli(t, ['chat', '--url', 'http://127.0.0.1:9', '--key', 'k', 'hi']);
  assert.deepEqual([code, stderr], [1, 'No gateway responds at http://127.0.0.1:9. Start one with: npm start\n']);
});
