import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';
import type { Slots } from './contract.ts';
import { createRedisLink } from './redis-link.ts';
import { createMemorySlots, createSharedSlots } from './slots.ts';
import { redis, useRedis } from './test-redis.ts';

function slot(id: string, limit = 2, expiresInMs = 60_000) {
  return { subject: 'key:a', id, limit, expiresInMs };
}

function testSlots(open: (t: TestContext) => Promise<Slots>): void {
  test('no more are in at once than the limit, and who leaves makes room', async (t) => {
    const slots = await open(t);
    const entered = await Promise.all(['1', '2', '3', '4'].map((id) => slots.enter(slot(id))));
    assert.deepEqual(entered, [true, true, false, false]);
    await slots.leave(slot('1'));
    assert.equal(await slots.enter(slot('3')), true);
    assert.equal(await slots.enter(slot('4')), false);
  });

  test('who is in takes one slot, however often it enters', async (t) => {
    const slots = await open(t);
    await slots.enter(slot('1'));
    assert.equal(await slots.enter(slot('1')), true);
    assert.equal(await slots.enter(slot('2')), true);
    assert.equal(await slots.enter(slot('2')), true);
  });

  test('a slot that nobody leaves ends by itself', async (t) => {
    const slots = await open(t);
    assert.equal(await slots.enter(slot('1', 1, 500)), true);
    assert.equal(await slots.enter(slot('2', 1)), false);
    await wait(550);
    assert.equal(await slots.enter(slot('2', 1)), true);
  });

  test('a slot ends by itself while others go on', async (t) => {
    const slots = await open(t);
    assert.equal(await slots.enter(slot('1', 2, 60_000)), true);
    assert.equal(await slots.enter(slot('2', 2, 500)), true);
    await wait(550);
    assert.deepEqual(await Promise.all(['3', '4'].map((id) => slots.enter(slot(id)))), [true, false]);
  });
}

suite('slots in memory', () => {
  testSlots(() => Promise.resolve(createMemorySlots({ clock: systemClock })));
});

suite('slots in Redis', { skip: redis === undefined }, () => {
  /** Slow machines are no dead ones here. */
  async function openShared(t: TestContext, url: string, prefix: string, callMs = 10_000): Promise<Slots> {
    const link = await createRedisLink({ url, prefix, callMs });
    t.after(() => link.close());
    await link.open();
    return createSharedSlots({ link, prefix, local: createMemorySlots({ clock: systemClock }) });
  }

  testSlots((t) => {
    const { url, prefix } = useRedis(t);
    return openShared(t, url, prefix);
  });

  test('several processes share them', async (t) => {
    const { url, prefix } = useRedis(t);
    const [one, other] = await Promise.all([openShared(t, url, prefix), openShared(t, url, prefix)]);
    assert.equal(await one.enter(slot('1', 1)), true);
    assert.equal(await other.enter(slot('2', 1)), false);
    await one.leave(slot('1'));
    assert.equal(await other.enter(slot('2', 1)), true);
  });

  test('while Redis is away a process counts for itself', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const slots = await openShared(t, `redis://127.0.0.1:${proxy.port}`, prefix, 1_000);
    proxy.stall();
    assert.deepEqual([await slots.enter(slot('1', 1)), await slots.enter(slot('2', 1))], [true, false]);
    await slots.leave(slot('1'));
    assert.equal(await slots.enter(slot('2', 1)), true);
  });
});
