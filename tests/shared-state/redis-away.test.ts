import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { redis, useRedis } from '../support/services/redis.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/services/tcp-proxy.ts';

/** Longer than a busy machine takes, far shorter than for ever. */
const SOON_MS = 10_000;

async function startBehindProxy(
  t: TestContext,
): Promise<{ readonly gateway: RunningGateway; readonly proxy: TcpProxy }> {
  const { url, prefix } = useRedis(t);
  const { hostname, port } = new URL(url);
  const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
  const gateway = await startGateway({
    env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, REDIS_PREFIX: prefix.slice(1, -2) },
  });
  t.after(() => gateway.close());
  return { gateway, proxy };
}

async function readiness(gateway: RunningGateway): Promise<number> {
  const answer = await fetch(`${gateway.url}/health/ready`);
  await answer.arrayBuffer();
  return answer.status;
}

async function metric(gateway: RunningGateway): Promise<string | undefined> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return /^gateway_shared_state_up\{by="redis"\} (\d)$/m.exec(text)?.[1];
}

async function until(gateway: RunningGateway, status: number): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while ((await readiness(gateway)) !== status) {
    assert.ok(performance.now() < endMs, `it does not become ${status}`);
    await wait(20);
  }
}

function echo(gateway: RunningGateway, stream: boolean): Promise<Response> {
  const messages = [{ role: 'user', content: 'Say it again.' }];
  return gateway.post('/chat/completions', { model: 'sandbox/echo', stream, session_id: 's', messages });
}

suite('a gateway without its Redis', { skip: redis === undefined }, () => {
  for (const fault of ['stall', 'cut'] as const)
    // @spec operation-6
    test(`serves through a ${fault}, reports that it is not ready, and recovers`, async (t) => {
      const { gateway, proxy } = await startBehindProxy(t);
      await until(gateway, 200);
      assert.equal(await metric(gateway), '1');
      if (fault === 'stall') proxy.stall();
      else await proxy.cut();
      for (const stream of [true, false]) {
        const answer = await echo(gateway, stream);
        assert.equal(answer.status, 200);
        assert.match(await answer.text(), stream ? /data: \[DONE\]/ : /Say it again/);
      }
      await until(gateway, 503);
      assert.equal(await metric(gateway), '0');
      if (fault === 'stall') proxy.resume();
      else await proxy.restore();
      await until(gateway, 200);
      assert.equal(await metric(gateway), '1');
      assert.equal((await echo(gateway, false)).status, 200);
    });

  // @spec operation-7
  test('waits for a slow Redis only once', async (t) => {
    const { gateway, proxy } = await startBehindProxy(t);
    await until(gateway, 200);
    proxy.delay(5_000);
    await until(gateway, 503);
    const startedMs = performance.now();
    for (let count = 0; count < 20; count++) assert.equal((await echo(gateway, false)).status, 200);
    assert.ok(performance.now() - startedMs < 5_000, 'twenty requests take less than one late answer');
  });

  test('starts without Redis, serves, and is ready when Redis is', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    await proxy.cut();
    const gateway = await startGateway({
      env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, REDIS_PREFIX: prefix.slice(1, -2) },
    });
    t.after(() => gateway.close());
    assert.equal((await echo(gateway, false)).status, 200);
    assert.equal(await readiness(gateway), 503);
    await proxy.restore();
    await until(gateway, 200);
  });
});
