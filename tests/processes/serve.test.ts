import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ENTRY, makeFolder, runCli, startCli, startGateway } from '../support/cli/spawn-cli.ts';

const KEYS = { GATEWAY_API_KEY: 'test-key', GATEWAY_MANAGEMENT_KEY: 'test-management-key' };

async function takePort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

function ask(url: string, model: string, content: string, stream: boolean): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.GATEWAY_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
  });
}

suite('the first start', () => {
  test('prints two keys and a working curl command; the second start prints one line', async (t) => {
    const dataDir = makeFolder(t);
    const first = await startGateway(t, { dataDir });
    const [, curl] = await first.until(/\n(curl .*)\n/);
    const answered = spawnSync('sh', ['-c', curl ?? ''], { encoding: 'utf8' });
    assert.match(answered.stdout, /"content":"[^"]*Hello, gateway!/, answered.stderr);
    const [, managementKey] = await first.until(/Management key: (\S+)\n/);
    const [, apiKey] = await first.until(/API key: +(\S+)\n/);
    const list = (key: string | undefined): Promise<Response> =>
      fetch(`${first.url}/v1/keys`, { headers: { authorization: `Bearer ${key}` } });
    assert.deepEqual([(await list(managementKey)).status, (await list(apiKey)).status], [200, 403]);
    first.child.kill('SIGTERM');
    const { code, stdout } = await first.exited;
    assert.equal(code, 0);
    assert.equal(stdout.match(/listening on/g)?.length, 1);

    const second = await startGateway(t, { dataDir });
    second.child.kill('SIGTERM');
    assert.match((await second.exited).stdout, /^Model Gateway listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  });

  test('creates no keys when the environment has one', async (t) => {
    const gateway = await startGateway(t, { env: { GATEWAY_API_KEY: 'test-key' } });
    gateway.child.kill('SIGTERM');
    assert.match((await gateway.exited).stdout, /^Model Gateway listening on http:\/\/127\.0\.0\.1:\d+\n$/);
  });

  test('logs which providers are on, in lines for people where the environment wants them', async (t) => {
    const env = { ...KEYS, GATEWAY_LOG_FORMAT: 'pretty', GROQ_API_KEY: 'of-a-test' };
    const gateway = await startGateway(t, { env });
    assert.equal((await ask(gateway.url, 'sandbox/echo', 'Hello', false)).status, 200);
    gateway.child.kill('SIGTERM');
    const { stderr } = await gateway.exited;
    assert.match(stderr, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}providers that are on +providers=\["groq","sandbox"\]$/m);
    assert.match(stderr, /^\d\d:\d\d:\d\d\.\d{3} INFO {2}generation .*model=sandbox\/echo/m);
    assert.doesNotMatch(stderr, /^\{/m);
  });

  test('creates no keys while the port is taken; the start that succeeds shows them', async (t) => {
    const dataDir = makeFolder(t);
    const port = await takePort(t);
    const { code, stdout } = await runCli(t, ['--port', String(port), '--data-dir', dataDir]);
    assert.deepEqual([code, stdout], [1, '']);
    const gateway = await startGateway(t, { dataDir });
    gateway.child.kill('SIGTERM');
    assert.match((await gateway.exited).stdout, /API key: +mgw-/);
  });
});

suite('a start that fails', { concurrency: 2 }, () => {
  test('reports a taken port in one sentence', async (t) => {
    const port = await takePort(t);
    const dataDir = makeFolder(t);
    const result = await runCli(t, ['--port', String(port), '--data-dir', dataDir], { env: KEYS });
    assert.deepEqual(result, {
      code: 1,
      signal: null,
      stdout: '',
      stderr: `Port ${port} on 127.0.0.1 is taken. Choose another with --port.\n`,
    });
  });

  test('reports an invalid address', async (t) => {
    const args = ['--host', '192.0.2.1', '--port', '0', '--data-dir', makeFolder(t)];
    const { code, stderr } = await runCli(t, args, { env: KEYS });
    assert.equal(code, 1);
    assert.equal(stderr, '192.0.2.1 is no address of this machine. Choose another with --host.\n');
  });

  test('reports an invalid configuration with its place, and creates nothing', async (t) => {
    const folder = makeFolder(t);
    writeFileSync(join(folder, 'gateway.yaml'), 'providers:\n  alpha:\n    adaptor: openai\n');
    const { code, stderr, stdout } = await runCli(t, ['serve'], { cwd: folder });
    assert.deepEqual(
      [code, stdout, stderr],
      [1, '', 'gateway.yaml:3: providers.alpha.adaptor: unknown key; did you mean "adapter"?\n'],
    );
  });

  test('reports a configuration that is not UTF-8', async (t) => {
    const folder = makeFolder(t);
    writeFileSync(join(folder, 'gateway.yaml'), Buffer.from('server: { region: "München" }\n', 'latin1'));
    const { code, stderr } = await runCli(t, ['serve'], { cwd: folder });
    assert.deepEqual([code, stderr], [1, 'gateway.yaml: is not UTF-8 text\n']);
  });

  test('reports a provider without its address before any key is created', async (t) => {
    const folder = makeFolder(t);
    writeFileSync(join(folder, 'gateway.yaml'), 'providers:\n  alpha: { adapter: openai-compatible }\n');
    const { code, stderr, stdout } = await runCli(t, [], { cwd: folder });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^gateway\.yaml:2: providers\.alpha\.base_url: .*\n$/);
  });

  test('reports a damaged database and how to repair it', async (t) => {
    const dataDir = makeFolder(t);
    writeFileSync(join(dataDir, 'gateway.db'), 'this is not a database, '.repeat(400));
    const { code, stderr } = await runCli(t, ['--port', '0', '--data-dir', dataDir], { env: KEYS });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^Cannot open the database \S+: file is not a database\. Put a backup in its place: [^\n]*\n$/,
    );
  });

  test('reports an unusable data directory in one sentence', async (t) => {
    const folder = makeFolder(t);
    writeFileSync(join(folder, 'file'), '');
    const { code, stderr } = await runCli(t, ['--port', '0', '--data-dir', join(folder, 'file')], { env: KEYS });
    assert.equal(code, 1);
    assert.match(stderr, /^Cannot open the database [^\n]*\n$/);
  });

  test(
    'reports a data directory that cannot be created in one sentence',
    { skip: process.platform !== 'linux' },
    async (t) => {
      const nowhere = '/proc/nowhere/at/all';
      const kept = await runCli(t, ['--port', '0', '--data-dir', nowhere], { env: KEYS });
      assert.equal(kept.code, 1);
      assert.match(kept.stderr, /^Cannot open the database [^\n]*'\/proc\/nowhere'[^\n]*\n$/);
      const folder = makeFolder(t);
      writeFileSync(join(folder, 'gateway.yaml'), `files: { directory: ${nowhere} }\n`);
      const files = await runCli(t, ['--port', '0', '--data-dir', join(folder, 'data')], { cwd: folder, env: KEYS });
      assert.equal(files.code, 1);
      assert.match(files.stderr, /^[^\n]*'\/proc\/nowhere'[^\n]*\n$/);
    },
  );
});

test('warns when a second gateway uses the same data directory, and serves', async (t) => {
  const dataDir = makeFolder(t);
  const first = await startGateway(t, { dataDir, env: KEYS });
  const second = await startGateway(t, { dataDir, env: KEYS });
  assert.equal((await ask(second.url, 'sandbox/echo', 'Hello', false)).status, 200);
  first.child.kill('SIGTERM');
  second.child.kill('SIGTERM');
  assert.doesNotMatch((await first.exited).stderr, /another gateway/);
  assert.match((await second.exited).stderr, /"level":40.*"another gateway works on this data directory: /);
});

suite('a log that cannot be written', { concurrency: 2 }, () => {
  const inShell = (line: string): readonly string[] => ['sh', '-c', line, process.execPath, ENTRY];

  test('stops neither requests nor the end of the process when the disk is full', async (t) => {
    const command = inShell('exec "$0" "$@" 2>/dev/full');
    const gateway = await startGateway(t, { env: KEYS, command });
    for (let index = 0; index < 40; index++)
      assert.equal((await ask(gateway.url, 'sandbox/echo', 'Hello', false)).status, 200);
    gateway.child.kill('SIGTERM');
    assert.equal((await gateway.exited).code, 0);
  });

  test('stops neither requests nor the end of the process when its reader is gone', async (t) => {
    const gateway = await startGateway(t, { env: KEYS });
    gateway.child.stderr?.destroy();
    assert.equal((await ask(gateway.url, 'sandbox/echo', 'Hello', false)).status, 200);
    gateway.child.kill('SIGTERM');
    assert.equal((await gateway.exited).code, 0);
  });

  test('stops neither requests nor the end of the process when its reader is stuck', async (t) => {
    const fifo = join(makeFolder(t), 'log');
    spawnSync('sh', ['-c', 'mkfifo "$0"', fifo]);
    // Open at both ends, so that neither waits for the other; and full, since it is never read.
    const reader = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
    t.after(() => closeSync(reader));
    assert.throws(() => {
      for (;;) writeSync(reader, Buffer.alloc(4_096));
    }, /EAGAIN/);
    const gateway = await startGateway(t, {
      env: { ...KEYS, FIFO: fifo },
      command: inShell('exec "$0" "$@" 2>"$FIFO"'),
    });
    for (let index = 0; index < 40; index++)
      assert.equal((await ask(gateway.url, 'sandbox/echo', 'Hello', false)).status, 200);
    gateway.child.kill('SIGTERM');
    const [code] = await once(gateway.child, 'exit');
    assert.equal(code, 0);
  });

  test('is reported on standard output in one sentence', async (t) => {
    const { code, stderr } = await runCli(t, ['--help'], { command: inShell('exec "$0" "$@" >/dev/full') });
    assert.equal(code, 1);
    assert.match(stderr, /^Standard output takes nothing: ENOSPC[^\n]*\n$/);
  });
});

suite('a signal', { concurrency: 2 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`ends an idle gateway with 0: ${signal}`, async (t) => {
      const gateway = await startGateway(t, { env: KEYS });
      gateway.child.kill(signal);
      assert.equal((await gateway.exited).code, 0);
    });
  }

  test('lets a stream finish, and ignores an echo of the signal', async (t) => {
    const gateway = await startGateway(t, { env: KEYS });
    const response = await ask(gateway.url, 'sandbox/long', 'tokens=20 every=20', true);
    gateway.child.kill('SIGINT');
    gateway.child.kill('SIGINT');
    const text = await response.text();
    assert.ok(text.endsWith('data: [DONE]\n\n'), text.slice(-200));
    assert.equal((await gateway.exited).code, 0);
  });

  test('ends the process at once the second time', async (t) => {
    const gateway = await startGateway(t, { env: KEYS });
    const stalled = await ask(gateway.url, 'sandbox/long', 'tokens=2000 every=50', true);
    const broken = stalled.text().catch(() => 'broken off');
    gateway.child.kill('SIGTERM');
    // The second signal counts once it can be no echo of the first; the stream keeps the gateway draining for 30 s.
    const again = setInterval(() => gateway.child.kill('SIGTERM'), 60);
    const { code } = await gateway.exited;
    clearInterval(again);
    assert.equal(code, 130);
    await broken;
  });
});

test('keeps a gateway running when the reader closes standard output', async (t) => {
  const port = await freePort();
  const gateway = startCli(t, ['--port', String(port), '--data-dir', makeFolder(t)], { env: KEYS });
  gateway.child.stdout?.destroy();
  assert.equal(await statusOnceUp(`http://127.0.0.1:${port}/health/live`), 200);
  assert.equal(await statusOnceUp(`http://127.0.0.1:${port}/health/ready`), 200);
  gateway.child.kill('SIGTERM');
  const { code, stderr } = await gateway.exited;
  assert.equal(code, 0, stderr);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

/** Polls until the address responds, for a few seconds. */
async function statusOnceUp(url: string): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => undefined,
    );
    if (status !== undefined) return status;
    await wait(50);
  }
  return assert.fail('there is no listener');
}
