import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../lib/clock.ts';
import { startTcpProxy } from '../../tests/support/services/tcp-proxy.ts';
import type { RateLimitState, Permit, PermitResult, Rate, SlotRequest } from './contract.ts';
import { createMemoryRateLimits } from './memory/rate-limits.ts';
import { createRedisLink } from './redis/link.ts';
import { openLocalState } from '../../tests/support/services/local-state.ts';
import { openRateLimits } from '../../tests/support/services/redis-rate-limits.ts';
import { redis, useRedis } from '../../tests/support/services/redis.ts';

const REQUESTS = 'key:a:requests';

function rate(limit: number, take = 1, subject = REQUESTS, periodMs = 60_000): Rate {
  return { owner: subject.slice(0, subject.lastIndexOf(':')), subject, limit, take, periodMs };
}

function slots(
  id: string,
  limits: Readonly<Record<string, number>> = { 'key:a': 2 },
  expiresInMs = 60_000,
): SlotRequest {
  const subjects = Object.entries(limits).map(([subject, limit]) => ({ subject, limit }));
  return { id, expiresInMs, subjects };
}

async function takes(rateLimitState: RateLimitState, ...rates: readonly Rate[]): Promise<boolean> {
  const { ok } = await rateLimitState.acquire({ rates });
  return ok;
}

async function enters(rateLimitState: RateLimitState, requested: SlotRequest): Promise<boolean> {
  const { ok } = await rateLimitState.acquire({ slots: requested, rates: [] });
  return ok;
}

function permitRequest(answer: PermitResult): Permit {
  assert.ok(answer.ok, 'it was let through');
  return answer.permit;
}

async function enter(rateLimitState: RateLimitState, requested: SlotRequest): Promise<Permit> {
  return permitRequest(await rateLimitState.acquire({ slots: requested, rates: [] }));
}

type OpenRateLimits = (t: TestContext) => Promise<RateLimitState>;

function testRates(open: OpenRateLimits): void {
  test('grants no more in a period than the limit', async (t) => {
    const rateLimitState = await open(t);
    const answers = await Promise.all(Array.from({ length: 30 }, () => takes(rateLimitState, rate(10))));
    assert.equal(answers.filter(Boolean).length, 10);
  });

  test('says truthfully in a refusal when to retry', async (t) => {
    const rateLimitState = await open(t);
    const short = rate(3, 1, REQUESTS, 1_000);
    for (const _ of [1, 2, 3]) assert.equal(await takes(rateLimitState, short), true);
    const answer = await rateLimitState.acquire({ rates: [short] });
    assert.ok(!answer.ok && answer.by === 'rates');
    assert.deepEqual([answer.subject, answer.limit, answer.remaining], [REQUESTS, 3, 0]);
    assert.ok(answer.retryAfterMs > 0 && answer.retryAfterMs <= 1_000, `${answer.retryAfterMs} ms`);
    await wait(answer.retryAfterMs + 5);
    assert.equal(await takes(rateLimitState, short), true);
  });

  test('leaves shared limits to others during a flood that its own limit refuses', async (t) => {
    const rateLimitState = await open(t);
    const ofKey = (key: string): Rate => rate(2, 1, `key:${key}:requests`);
    const ofAll = rate(4, 1, 'account:x:requests');
    assert.equal(await takes(rateLimitState, ofKey('a'), ofAll), true);
    assert.equal(await takes(rateLimitState, ofKey('a'), ofAll), true);
    const flood = Array.from({ length: 50 }, () => takes(rateLimitState, ofKey('a'), ofAll));
    const others = ['b', 'c'].map((key) => takes(rateLimitState, ofKey(key), ofAll));
    assert.deepEqual(await Promise.all(others), [true, true]);
    assert.ok((await Promise.all(flood)).every((ok) => !ok));
  });

  test('takes nothing for a refused request, of this count and of the others', async (t) => {
    const rateLimitState = await open(t);
    const tokens = (take: number): Rate => rate(100, take, 'key:a:tokens');
    assert.equal(await takes(rateLimitState, rate(3), tokens(60)), true);
    const refused = await rateLimitState.acquire({ rates: [rate(3), tokens(60)] });
    assert.ok(!refused.ok && refused.by === 'rates');
    assert.deepEqual([refused.subject, refused.remaining], ['key:a:tokens', 40]);
    assert.equal(await takes(rateLimitState, rate(3), tokens(40)), true);
    assert.equal(await takes(rateLimitState, rate(3)), true);
    assert.equal(await takes(rateLimitState, rate(3)), false);
  });

  test('returns unused units, and counts additional ones', async (t) => {
    const rateLimitState = await open(t);
    const take = (count: number) => rateLimitState.acquire({ rates: [rate(100, count)] });
    await permitRequest(await take(90)).end(new Map([[REQUESTS, 10]]));
    const second = permitRequest(await take(90));
    await second.end(new Map([[REQUESTS, 5]]));
    await second.end(new Map([[REQUESTS, 0]]));
    await permitRequest(await take(1)).end(new Map([[REQUESTS, 84]]));
    assert.equal((await take(2)).ok, false);
    await permitRequest(await take(1)).end();
    assert.equal((await take(1)).ok, false, 'what is not settled counts as it was taken');
  });

  test('takes nothing off the next period when units are returned late', async (t) => {
    const rateLimitState = await open(t);
    const short = (take: number): Rate => rate(10, take, REQUESTS, 1_000);
    const first = permitRequest(await rateLimitState.acquire({ rates: [short(10)] }));
    await wait(1_050);
    await first.end(new Map([[REQUESTS, 0]]));
    assert.equal(await takes(rateLimitState, short(10)), true);
    assert.equal(await takes(rateLimitState, short(1)), false);
  });

  test('grants more than the limit where nothing else was used', async (t) => {
    const rateLimitState = await open(t);
    assert.equal(await takes(rateLimitState, rate(100, 5_000)), true);
    assert.equal(await takes(rateLimitState, rate(100, 1)), false);
  });

  test('admits no request with a limit of zero', async (t) => {
    const rateLimitState = await open(t);
    assert.equal(await takes(rateLimitState, rate(0)), false);
    assert.equal(await takes(rateLimitState, rate(0)), false);
  });
}

function testSlots(open: OpenRateLimits): void {
  const both = (id: string) => slots(id, { 'key:a': 2, 'account:b': 1 });

  test('limits concurrent requests, and frees a slot when one ends', async (t) => {
    const rateLimitState = await open(t);
    const answers = await Promise.all(
      ['1', '2', '3', '4'].map((id) => rateLimitState.acquire({ slots: slots(id), rates: [] })),
    );
    assert.deepEqual(
      answers.map(({ ok }) => ok),
      [true, true, false, false],
    );
    const [first] = answers;
    assert.ok(first?.ok);
    await first.permit.end();
    await enter(rateLimitState, slots('3'));
    assert.equal(await enters(rateLimitState, slots('4')), false);
    await first.permit.end();
    assert.equal(await enters(rateLimitState, slots('4')), false, 'only the first end counts');
  });

  test('gives one id one slot, however often it enters', async (t) => {
    const rateLimitState = await open(t);
    for (const id of ['1', '1', '2', '2']) assert.equal(await enters(rateLimitState, slots(id)), true);
  });

  test('takes slots of all subjects or of none, and names the first that is full', async (t) => {
    const rateLimitState = await open(t);
    const first = await enter(rateLimitState, both('1'));
    const refused = await rateLimitState.acquire({ slots: both('2'), rates: [] });
    assert.deepEqual(refused, { ok: false, by: 'slots', subject: 'account:b' });
    assert.equal(await enters(rateLimitState, slots('3')), true, 'who was refused took no slot of the key');
    const again = await rateLimitState.acquire({ slots: both('4'), rates: [] });
    assert.deepEqual(again, { ok: false, by: 'slots', subject: 'key:a' });
    await first.end();
    assert.equal(await enters(rateLimitState, both('4')), true);
  });

  test('expires a slot that is not returned', async (t) => {
    const rateLimitState = await open(t);
    assert.equal(await enters(rateLimitState, slots('1', { 'key:a': 1 }, 1_500)), true);
    assert.equal(await enters(rateLimitState, slots('2', { 'key:a': 1 })), false);
    await wait(1_550);
    assert.equal(await enters(rateLimitState, slots('2', { 'key:a': 1 })), true);
  });

  test('expires a slot while other requests go on', async (t) => {
    const rateLimitState = await open(t);
    assert.equal(await enters(rateLimitState, slots('1')), true);
    assert.equal(await enters(rateLimitState, slots('2', { 'key:a': 2 }, 1_500)), true);
    await wait(1_550);
    assert.deepEqual(await Promise.all(['3', '4'].map((id) => enters(rateLimitState, slots(id)))), [true, false]);
  });

  test('takes no rate without a slot, and no slot without a rate', async (t) => {
    const rateLimitState = await open(t);
    const one = (id: string) => ({ slots: slots(id, { 'key:a': 1 }), rates: [rate(2)] });
    const first = permitRequest(await rateLimitState.acquire(one('1')));
    for (const id of ['2', '3'])
      assert.deepEqual(await rateLimitState.acquire(one(id)), { ok: false, by: 'slots', subject: 'key:a' });
    await first.end();
    await permitRequest(await rateLimitState.acquire(one('4'))).end();
    for (const id of ['5', '6']) {
      const refused = await rateLimitState.acquire(one(id));
      assert.ok(!refused.ok && refused.by === 'rates');
    }
  });
}

suite('rate limits in memory', () => {
  const open: OpenRateLimits = () => Promise.resolve(createMemoryRateLimits({ clock: systemClock }));
  testRates(open);
  testSlots(open);
});

suite('rate limits over the local socket', () => {
  const openWorkers = async (t: TestContext, count: number): Promise<readonly RateLimitState[]> => {
    const { workers } = await openLocalState(t, count);
    return workers.map((worker) => worker.rateLimitState);
  };
  const open: OpenRateLimits = async (t) => {
    const [worker] = await openWorkers(t, 1);
    assert.ok(worker !== undefined);
    return worker;
  };
  testRates(open);
  testSlots(open);

  test('shares one count between workers', async (t) => {
    const workers = await openWorkers(t, 3);
    const answers = await Promise.all(
      workers.flatMap((worker) => Array.from({ length: 20 }, () => takes(worker, rate(10)))),
    );
    assert.equal(answers.filter(Boolean).length, 10);
  });
});

suite('rate limits in Redis', { skip: redis === undefined }, () => {
  /** Opens a shared state with long limits: a slow test machine must not look like a dead Redis. */
  async function openShared(t: TestContext, url: string, prefix: string, callMs = 10_000) {
    const link = await createRedisLink({ url, prefix, callMs });
    t.after(() => link.close());
    const rateLimitState = openRateLimits(link, prefix);
    await link.open();
    return { link, rateLimitState };
  }

  async function openBehindProxy(t: TestContext) {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const shaky = await openShared(t, `redis://127.0.0.1:${proxy.port}`, prefix, 1_000);
    return { proxy, ...shaky, other: await openShared(t, url, prefix) };
  }

  const open: OpenRateLimits = async (t) => {
    const { url, prefix } = useRedis(t);
    return (await openShared(t, url, prefix)).rateLimitState;
  };
  testRates(open);
  testSlots(open);

  // @spec rate-11
  test('shares one count between several processes', async (t) => {
    const { url, prefix } = useRedis(t);
    const processes = await Promise.all([1, 2, 3].map(() => openShared(t, url, prefix)));
    const answers = await Promise.all(
      processes.flatMap(({ rateLimitState }) => Array.from({ length: 20 }, () => takes(rateLimitState, rate(10)))),
    );
    assert.equal(answers.filter(Boolean).length, 10);
  });

  test('shares slots between several processes', async (t) => {
    const { url, prefix } = useRedis(t);
    const [one, other] = await Promise.all([openShared(t, url, prefix), openShared(t, url, prefix)]);
    const permit = await enter(one.rateLimitState, slots('1', { 'key:a': 1 }));
    assert.equal(await enters(other.rateLimitState, slots('2', { 'key:a': 1 })), false);
    await permit.end();
    assert.equal(await enters(other.rateLimitState, slots('2', { 'key:a': 1 })), true);
  });

  test('expires counts', async (t) => {
    const { url, prefix } = useRedis(t);
    const { rateLimitState } = await openShared(t, url, prefix);
    permitRequest(await rateLimitState.acquire({ slots: slots('1'), rates: [rate(10), rate(10, 5, 'key:a:tokens')] }));
    const keys = await redis?.keys(`${prefix}*`);
    assert.equal(keys?.filter((key) => !key.endsWith(':probe')).length, 3);
    for (const key of keys ?? []) assert.ok(((await redis?.pttl(key)) ?? 0) !== -1, `${key} ends`);
  });

  // @spec rate-11
  test('counts in the process while Redis is away, without waiting', async (t) => {
    const { proxy, link, rateLimitState } = await openBehindProxy(t);
    const permit = permitRequest(await rateLimitState.acquire({ rates: [rate(2)] }));
    proxy.stall();
    assert.equal(await takes(rateLimitState, rate(2)), true);
    assert.equal(link.isUp, false);
    assert.equal(await takes(rateLimitState, rate(2)), true);
    assert.equal(await takes(rateLimitState, rate(2)), false);
    await permit.end(new Map([[REQUESTS, 5]]));
  });

  test('knows the slots of the process while Redis is away', async (t) => {
    const { proxy, link, rateLimitState } = await openBehindProxy(t);
    const before = await enter(rateLimitState, slots('1'));
    proxy.stall();
    const inside = await enter(rateLimitState, slots('2'));
    assert.equal(link.isUp, false);
    assert.equal(await enters(rateLimitState, slots('3')), false);
    await before.end();
    await inside.end();
    for (const id of ['3', '4']) assert.equal(await enters(rateLimitState, slots(id)), true);
  });

  test('frees slots in Redis that were returned while it was away', async (t) => {
    const { proxy, link, rateLimitState, other } = await openBehindProxy(t);
    const permit = await enter(rateLimitState, slots('1', { 'key:a': 1 }));
    await proxy.cut();
    assert.equal(await enters(rateLimitState, slots('2', { 'key:b': 1 })), true);
    assert.equal(link.isUp, false);
    await permit.end();
    assert.equal(await enters(other.rateLimitState, slots('3', { 'key:a': 1 })), false, 'Redis does not know yet');
    const back = Promise.withResolvers<void>();
    link.onBack(() => Promise.resolve(back.resolve()));
    await proxy.restore();
    await back.promise;
    while (!link.isUp) await wait(5);
    assert.equal(await enters(other.rateLimitState, slots('3', { 'key:a': 1 })), true);
  });
});
