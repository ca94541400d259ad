import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/services/tcp-proxy.ts';
import type { SharedState } from '../contract.ts';
import { openRedisState } from './state.ts';
import { redis, useRedis } from '../../../tests/support/services/redis.ts';

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

suite('invalidations between processes', { skip: redis === undefined }, () => {
  test('sends an announcement to every other process, and not to its own', async (t) => {
    const { url, prefix } = useRedis(t);
    const states = await Promise.all([1, 2, 3].map(() => start(t, url, prefix)));
    const received: string[] = [];
    for (const [at, { invalidations }] of states.entries()) {
      invalidations.subscribe('key', (message) => received.push(`${at} ${message}`));
      invalidations.subscribe('other', () => received.push('never'));
    }
    states[0]?.invalidations.announce('key', 'abc');
    await until(() => received.length >= 2);
    await wait(20);
    assert.deepEqual(received.toSorted(), ['1 abc', '2 abc']);
  });

  test('ignores messages of another shape', async (t) => {
    const { url, prefix } = useRedis(t);
    const one = await start(t, url, prefix);
    const received: string[] = [];
    one.invalidations.subscribe('key', (message) => received.push(message));
    for (const text of ['', '{', '[]', '["a","key",1]', JSON.stringify(['a', 'key', 'x'.repeat(70_000)])])
      await redis?.publish(`${prefix}news`, text);
    await redis?.publish(`${prefix}news`, '["a","key","good"]');
    await until(() => received.length > 0);
    assert.deepEqual(received, ['good']);
  });

  for (const fault of ['stall', 'cut'] as const)
    test(`reports a possible gap after a ${fault}, and receives what follows`, async (t) => {
      const { url, prefix } = useRedis(t);
      const { hostname, port } = new URL(url);
      const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
      const shaky = await start(t, `redis://127.0.0.1:${proxy.port}`, prefix);
      const resilient = await start(t, url, prefix);
      const received: string[] = [];
      let gaps = 0;
      shaky.invalidations.subscribe(
        'key',
        (message) => received.push(message),
        () => gaps++,
      );
      if (fault === 'stall') proxy.stall();
      else await proxy.cut();
      resilient.invalidations.announce('key', 'lost');
      await wait(2_000);
      if (fault === 'stall') proxy.resume();
      else await proxy.restore();
      await until(() => gaps > 0);
      resilient.invalidations.announce('key', 'after');
      await until(() => received.includes('after'));
    });

  test('shares a value of one process with the others, for its time', async (t) => {
    const { url, prefix } = useRedis(t);
    const [one, other] = await Promise.all([start(t, url, prefix), start(t, url, prefix)]);
    one.values?.set('a', 'b', 2_000);
    let found: string | undefined;
    for (let tries = 0; tries < 200 && found === undefined; tries++) {
      found = await other.values?.get('a');
      await wait(5);
    }
    assert.equal(found, 'b');
    await wait(2_050);
    assert.equal(await other.values?.get('a'), undefined);
  });

  test('returns no value soon when Redis does not answer', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const shaky = await start(t, `redis://127.0.0.1:${proxy.port}`, prefix);
    proxy.stall();
    const startedMs = performance.now();
    assert.equal(await shaky.values?.get('a'), undefined);
    assert.ok(performance.now() - startedMs < SOON_MS, 'it does not hang');
    await assert.rejects(shaky.ping());
  });
});
