import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';
import type { SharedState } from './contract.ts';
import { openRedisState } from './redis.ts';
import { redis, useRedis } from './test-redis.ts';

const SOON_MS = 10_000;

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, 'it takes too long');
    await wait(5);
  }
}

async function start(t: TestContext, url: string, prefix: string): Promise<SharedState> {
  const state = await openRedisState({ url, prefix, clock: systemClock, textBytesMax: 0 });
  t.after(() => state.close());
  return state;
}

suite('news of several processes', { skip: redis === undefined }, () => {
  test('every other process hears what one announces, and that one does not', async (t) => {
    const { url, prefix } = useRedis(t);
    const states = await Promise.all([1, 2, 3].map(() => start(t, url, prefix)));
    const heard: string[] = [];
    for (const [at, { news }] of states.entries()) {
      news.subscribe('key', (message) => heard.push(`${at} ${message}`));
      news.subscribe('other', () => heard.push('never'));
    }
    states[0]?.news.announce('key', 'abc');
    await until(() => heard.length >= 2);
    await wait(20);
    assert.deepEqual(heard.toSorted(), ['1 abc', '2 abc']);
  });

  test('what is no news of ours is not heard, and breaks nothing', async (t) => {
    const { url, prefix } = useRedis(t);
    const one = await start(t, url, prefix);
    const heard: string[] = [];
    one.news.subscribe('key', (message) => heard.push(message));
    for (const text of ['', '{', '[]', '["a","key",1]', JSON.stringify(['a', 'key', 'x'.repeat(70_000)])])
      await redis?.publish(`${prefix}news`, text);
    await redis?.publish(`${prefix}news`, '["a","key","good"]');
    await until(() => heard.length > 0);
    assert.deepEqual(heard, ['good']);
  });

  for (const fault of ['stall', 'cut'] as const)
    test(`who may have missed some after a ${fault} is told so, and hears what follows`, async (t) => {
      const { url, prefix } = useRedis(t);
      const { hostname, port } = new URL(url);
      const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
      const shaky = await start(t, `redis://127.0.0.1:${proxy.port}`, prefix);
      const steady = await start(t, url, prefix);
      const heard: string[] = [];
      let gaps = 0;
      shaky.news.subscribe(
        'key',
        (message) => heard.push(message),
        () => gaps++,
      );
      if (fault === 'stall') proxy.stall();
      else await proxy.cut();
      steady.news.announce('key', 'lost');
      await wait(2_000);
      if (fault === 'stall') proxy.resume();
      else await proxy.restore();
      await until(() => gaps > 0);
      steady.news.announce('key', 'after');
      await until(() => heard.includes('after'));
    });

  test('a value that one process sets is known to the others, for its time', async (t) => {
    const { url, prefix } = useRedis(t);
    const [one, other] = await Promise.all([start(t, url, prefix), start(t, url, prefix)]);
    one.values?.set('a', 'b', 2_000);
    let found: string | undefined;
    for (let tries = 0; tries < 20 && found === undefined; tries++) found = await other.values?.get('a');
    assert.equal(found, 'b');
    await wait(2_050);
    assert.equal(await other.values?.get('a'), undefined);
  });

  test('of a Redis that does not answer nothing is known, soon', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const shaky = await start(t, `redis://127.0.0.1:${proxy.port}`, prefix);
    proxy.stall();
    const startedMs = performance.now();
    assert.equal(await shaky.values?.get('a'), undefined);
    assert.ok(performance.now() - startedMs < 1_000, 'it does not hang');
    await assert.rejects(shaky.ping());
  });
});
