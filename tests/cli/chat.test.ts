import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { runCli, startCli, startGateway } from '../support/spawn-cli.ts';

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

  test('a message gets one answer', async (t) => {
    const { code, stdout, stderr } = await runCli(t, ['chat', '--url', url, 'Hello,', 'gateway!'], { env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /Hello, gateway!\n$/);
  });

  test('the address may end in /v1', async (t) => {
    assert.equal((await runCli(t, ['chat', '--url', `${url}/v1/`, 'Hello'], { env })).code, 0);
  });

  test('lines of input are a conversation that ends with the input', async (t) => {
    const chat = startCli(t, ['chat', '--url', url], { env });
    chat.child.stdin?.end('first\n\nsecond\n/exit\nthird\n');
    const { code, stdout } = await chat.exited;
    assert.equal(code, 0);
    assert.match(stdout, /first[^]*second/);
    assert.ok(!stdout.includes('third'));
  });

  test('reasoning stays out of what is piped', async (t) => {
    const { code, stdout } = await runCli(t, ['chat', '--url', url, '--model', 'sandbox/reasoning', 'why'], { env });
    assert.equal(code, 0);
    assert.ok(!stdout.includes('\u001b'), stdout);
    assert.notEqual(stdout.trim(), '');
  });

  test('a wrong key is told in a sentence', async (t) => {
    const { code, stdout, stderr } = await runCli(t, ['chat', '--url', url, '--key', 'wrong', 'hi']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^The gateway answered 401: [^\n]+\n$/);
  });

  test('an unknown model is told in a sentence', async (t) => {
    const { code, stderr } = await runCli(t, ['chat', '--url', url, '--model', 'no/such', 'hi'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^The gateway answered 404: [^\n]+\n$/);
  });

  test('an answer that breaks off is shown as far as it came, and fails', async (t) => {
    const { code, stderr } = await runCli(t, ['chat', '--url', url, '--model', 'sandbox/cut', 'hello there'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^The answer broke off: [^\n]+\n$/);
  });

  test('Ctrl-C stops an answer', async (t) => {
    const args = ['chat', '--url', url, '--model', 'sandbox/long', 'tokens=2000 every=20'];
    const chat = startCli(t, args, { env });
    await chat.until(/\w/);
    chat.child.kill('SIGINT');
    assert.equal((await chat.exited).code, 130);
  });
});

test('without a gateway the first thing to do is named', async (t) => {
  const { code, stderr } = await runCli(t, ['chat', '--url', 'http://127.0.0.1:9', '--key', 'k', 'hi']);
  assert.deepEqual([code, stderr], [1, 'No gateway answers at http://127.0.0.1:9. Start one with: npm start\n']);
});
