import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeFolder, runCli, startGateway } from '../support/cli/spawn-cli.ts';
import { startWithWorkers, type GatewayWithWorkers } from '../support/cli/workers.ts';
import { API_KEY } from '../support/gateway.ts';

const SOON_MS = 20_000;
const STREAMS = 16;
const TOKENS = 40;

/** A stream that takes two seconds. Returns its text, or undefined where it broke off. */
async function stream({ url }: GatewayWithWorkers): Promise<string | undefined> {
  const content = `tokens=${TOKENS} every=50`;
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'sandbox/long', stream: true, messages: [{ role: 'user', content }] }),
    });
    const text = await response.text();
    return text.includes('[DONE]') ? text : undefined;
  } catch {
    return undefined;
  }
}

async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, what);
    await wait(20);
  }
}

async function readiness({ url }: GatewayWithWorkers): Promise<{ status: string; degraded?: readonly string[] }> {
  const response = await fetch(`${url}/health/ready`, { headers: { connection: 'close' } });
  assert.equal(response.status, 200);
  return (await response.json()) as { status: string; degraded?: readonly string[] };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

suite('the life of workers', { concurrency: 2 }, () => {
  // @spec operation-13
  test('goes on with one worker while the other one is killed, and starts it again', async (t) => {
    const gateway = await startWithWorkers(t, []);
    const [killed = 0, left = 0] = gateway.pids();
    const streams = Array.from({ length: STREAMS }, () => stream(gateway));
    await wait(700);
    process.kill(killed, 'SIGKILL');
    // A connection that reached the killed one last is reset.
    const missing = async (): Promise<readonly string[] | undefined> =>
      readiness(gateway).then(
        ({ degraded }) => degraded,
        () => undefined,
      );
    // What it had under way may be a further reason.
    const isMissing = (reason: string): boolean => /^worker [12] is being restarted$/.test(reason);
    await until(async () => (await missing())?.some(isMissing) ?? false, 'one is named as missing');
    const models = await fetch(`${gateway.url}/v1/models`, { headers: { connection: 'close' } });
    assert.equal(models.status, 200, 'management routes go on');
    const ends = await Promise.all(streams);
    const whole = ends.filter((end) => end !== undefined).length;
    assert.ok(whole > 0 && whole < STREAMS, `${whole} of ${STREAMS} streams were of the other worker`);
    await until(async () => (await readiness(gateway)).degraded === undefined, 'the worker is there again');
    const pids = gateway.pids();
    assert.deepEqual([pids.length, pids.includes(left), pids.includes(killed)], [2, true, false]);
    assert.match(gateway.log(), /"signal":"SIGKILL","restartMs":1000,"msg":"a worker has ended/);
  });

  test('lets streams of all workers end after SIGTERM, and leaves nothing behind', async (t) => {
    const dataDir = makeFolder(t);
    const gateway = await startWithWorkers(t, [], { dataDir });
    const pids = gateway.pids();
    const streams = Array.from({ length: STREAMS }, () => stream(gateway));
    await wait(700);
    gateway.child.kill('SIGTERM');
    const { code, signal, stderr } = await gateway.exited;
    assert.deepEqual([code, signal], [0, null], stderr);
    assert.ok(
      (await Promise.all(streams)).every((text) => text !== undefined),
      'every stream came to its end',
    );
    assert.deepEqual(pids.filter(isAlive), []);
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.endsWith('.sock')),
      [],
    );
  });

  test('ends all workers when the first process is killed', async (t) => {
    const dataDir = makeFolder(t);
    const gateway = await startWithWorkers(t, [], { dataDir });
    const pids = gateway.pids();
    gateway.child.kill('SIGKILL');
    await until(() => !pids.some(isAlive), 'a worker outlives the first process');
    assert.ok(existsSync(dataDir));
    const next = await startWithWorkers(t, [], { dataDir });
    assert.equal((await readiness(next)).status, 'ok');
    assert.equal(readdirSync(dataDir).filter((name) => name.endsWith('.sock')).length, 2, 'the dead sockets are gone');
  });

  test('prints the keys of the first start once, and its address', async (t) => {
    const gateway = await startGateway(t, { args: ['--workers', '2'] });
    await gateway.until(/API key: +mgw-/);
    gateway.child.kill('SIGTERM');
    const { stdout, code } = await gateway.exited;
    assert.equal(code, 0);
    assert.equal(stdout.match(/API key:/g)?.length, 1);
    assert.equal(stdout.match(/listening on/g)?.length, 1);
  });

  test('does not start on a port that is taken', async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const args = ['--workers', '2', '--port', String(address.port), '--data-dir', makeFolder(t)];
    const { code, stderr } = await runCli(t, args);
    assert.deepEqual([code, stderr], [1, `Port ${address.port} on 127.0.0.1 is taken. Choose another with --port.\n`]);
  });
});
