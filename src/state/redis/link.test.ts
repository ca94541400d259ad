import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startTcpProxy } from '../../../tests/support/services/tcp-proxy.ts';
import { createRedisLink, RedisAway, type RedisLink } from './link.ts';
import { redis, useRedis } from '../../../tests/support/services/redis.ts';

const CALL_MS = 300;
const SOON_MS = 10_000;

async function openBehindProxy(t: TestContext, callMs = CALL_MS) {
  const { url, prefix } = useRedis(t);
  const { hostname, port } = new URL(url);
  const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
  const reported: boolean[] = [];
  const link = await createRedisLink({
    url: `redis://127.0.0.1:${proxy.port}`,
    prefix,
    callMs,
    onChange: (isUp) => void reported.push(isUp),
  });
  t.after(() => link.close());
  await link.open();
  return { proxy, link, reported };
}

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, 'it takes too long');
    await wait(5);
  }
}

function ping(link: RedisLink): Promise<string> {
  return link.call((client) => client.ping());
}

suite('a link to Redis', { skip: redis === undefined }, () => {
  test('reports every change once', async (t) => {
    const { proxy, link, reported } = await openBehindProxy(t);
    await proxy.cut();
    await until(() => !link.isUp);
    await wait(1_200);
    await proxy.restore();
    await until(() => link.isUp);
    assert.deepEqual(reported, [true, false, true]);
  });

  test('does due work before any other call, each time that Redis is back', async (t) => {
    const { proxy, link } = await openBehindProxy(t);
    let done = 0;
    link.onBack(async () => {
      assert.equal(link.isUp, false);
      await assert.rejects(ping(link), RedisAway);
      done++;
    });
    await proxy.cut();
    await until(() => !link.isUp);
    await proxy.restore();
    await until(() => link.isUp);
    assert.equal(done, 1);
  });

  test('says whether a failed call may have been done', async (t) => {
    const { proxy, link } = await openBehindProxy(t);
    proxy.stall();
    const late = await ping(link).catch((error: unknown) => error);
    const refused = await ping(link).catch((error: unknown) => error);
    assert.ok(late instanceof RedisAway && refused instanceof RedisAway);
    assert.deepEqual([late.mayBeDone, refused.mayBeDone], [true, false]);
  });

  test('fails concurrent calls together, after one wait', async (t) => {
    const { proxy, link, reported } = await openBehindProxy(t);
    proxy.stall();
    const step = { lua: 'return 1' };
    const errors = await Promise.all(
      [1, 2, 3].map(() => link.run(step, [], []).catch((error: unknown) => error instanceof RedisAway && error)),
    );
    assert.deepEqual(
      errors.map((error) => error instanceof RedisAway && error.mayBeDone),
      [true, true, true],
    );
    const refused = await link.run(step, [], []).catch((error: unknown) => error);
    assert.ok(refused instanceof RedisAway && !refused.mayBeDone);
    assert.deepEqual(reported, [true, false]);
  });

  test('is back soon after a hiccup', async (t) => {
    const { proxy, link } = await openBehindProxy(t);
    proxy.stall();
    await assert.rejects(ping(link), RedisAway);
    proxy.resume();
    await until(() => link.isUp);
    assert.equal(await ping(link), 'PONG');
  });

  test('does not take Redis for dead when its own process was busy', async (t) => {
    const { link, reported } = await openBehindProxy(t);
    const answers = Promise.all([ping(link), ping(link)]);
    const endMs = performance.now() + 2 * CALL_MS;
    while (performance.now() < endMs);
    assert.deepEqual(await answers, ['PONG', 'PONG']);
    assert.deepEqual(reported, [true]);
  });

  test('stays closed after a close', async (t) => {
    const { link } = await openBehindProxy(t);
    link.close();
    await link.open();
    assert.equal(link.isUp, false);
    await assert.rejects(ping(link), RedisAway);
  });
});
