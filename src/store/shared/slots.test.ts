import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';
import type { Slots } from './contract.ts';
import { createRedisLink } from './redis-link.ts';
import { createMemorySlots, createSharedSlots } from './slots.ts';
import { redis, useRedis } from './test-redis.ts';

const FULL = 'key:a';

function slot(id: string, limit = 2, expiresInMs = 60_000) {
  return { id, expiresInMs, subjects: [{ subject: 'key:a', limit }] };
}

function testSlots(open: (t: TestContext) => Promise<Slots>): void {
  test('no more are in at once than the limit, and who leaves makes room', async (t) => {
    const slots = await open(t);
    const entered = await Promise.all(['1', '2', '3', '4'].map((id) => slots.enter(slot(id))));
    assert.deepEqual(entered, [undefined, undefined, FULL, FULL]);
    await slots.leave(slot('1'));
    assert.equal(await slots.enter(slot('3')), undefined);
    assert.equal(await slots.enter(slot('4')), FULL);
  });

  test('who is in takes one slot, however often it enters', async (t) => {
    const slots = await open(t);
    await slots.enter(slot('1'));
    assert.equal(await slots.enter(slot('1')), undefined);
    assert.equal(await slots.enter(slot('2')), undefined);
    assert.equal(await slots.enter(slot('2')), undefined);
  });

  test('of several subjects all slots are taken or none, and the first that is full is named', async (t) => {
    const slots = await open(t);
    const both = (id: string, limits: readonly [number, number]) => ({
      id,
      expiresInMs: 60_000,
      subjects: [
        { subject: 'key:a', limit: limits[0] },
        { subject: 'account:b', limit: limits[1] },
      ],
    });
    assert.equal(await slots.enter(both('1', [2, 1])), undefined);
    assert.equal(await slots.enter(both('2', [2, 1])), 'account:b');
    assert.equal(await slots.enter(slot('3', 2)), undefined, 'who was refused took no slot of the key');
    assert.equal(await slots.enter(both('4', [2, 1])), 'key:a');
    await slots.leave(both('1', [2, 1]));
    assert.equal(await slots.enter(both('4', [2, 1])), undefined);
  });

  test('a slot that nobody leaves ends by itself', async (t) => {
    const slots = await open(t);
    assert.equal(await slots.enter(slot('1', 1, 500)), undefined);
    assert.equal(await slots.enter(slot('2', 1)), FULL);
    await wait(550);
    assert.equal(await slots.enter(slot('2', 1)), undefined);
  });

  test('a slot ends by itself while others go on', async (t) => {
    const slots = await open(t);
    assert.equal(await slots.enter(slot('1', 2, 60_000)), undefined);
    assert.equal(await slots.enter(slot('2', 2, 500)), undefined);
    await wait(550);
    assert.deepEqual(await Promise.all(['3', '4'].map((id) => slots.enter(slot(id)))), [undefined, FULL]);
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
    assert.equal(await one.enter(slot('1', 1)), undefined);
    assert.equal(await other.enter(slot('2', 1)), FULL);
    await one.leave(slot('1'));
    assert.equal(await other.enter(slot('2', 1)), undefined);
  });

  test('while Redis is away a process counts for itself', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const slots = await openShared(t, `redis://127.0.0.1:${proxy.port}`, prefix, 1_000);
    proxy.stall();
    assert.deepEqual([await slots.enter(slot('1', 1)), await slots.enter(slot('2', 1))], [undefined, FULL]);
    await slots.leave(slot('1'));
    assert.equal(await slots.enter(slot('2', 1)), undefined);
  });
});
