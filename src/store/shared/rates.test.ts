import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/tcp-proxy.ts';
import type { Rate, Rates } from './contract.ts';
import { createLocalCounter, createRates } from './rates.ts';
import { createRedisCounter } from './redis-counter.ts';
import { createRedisLink } from './redis-link.ts';
import { redis, useRedis } from './test-redis.ts';

function rate(limit: number, take = 1, subject = 'key:a:requests', periodMs = 60_000): Rate {
  return { owner: subject.slice(0, subject.lastIndexOf(':')), subject, limit, take, periodMs };
}

async function takes(rates: Rates, ...asked: readonly Rate[]): Promise<boolean> {
  const { ok } = await rates.take(asked);
  return ok;
}

function testRates(open: (t: TestContext) => Promise<Rates>): void {
  test('no more is taken in a period than the limit', async (t) => {
    const rates = await open(t);
    const answers = await Promise.all(Array.from({ length: 30 }, () => takes(rates, rate(10))));
    assert.equal(answers.filter(Boolean).length, 10);
  });

  test('a refusal tells truthfully when it is over, and then it is', async (t) => {
    const rates = await open(t);
    const short = rate(3, 1, 'key:a:requests', 1_000);
    for (const _ of [1, 2, 3]) assert.equal(await takes(rates, short), true);
    const answer = await rates.take([short]);
    assert.ok(!answer.ok);
    assert.deepEqual([answer.subject, answer.limit, answer.remaining], ['key:a:requests', 3, 0]);
    assert.ok(answer.retryAfterMs > 0 && answer.retryAfterMs <= 1_000, `${answer.retryAfterMs} ms`);
    await wait(answer.retryAfterMs + 5);
    assert.equal(await takes(rates, short), true);
  });

  test('a flood that its own limit refuses leaves what it shares to others, also meanwhile', async (t) => {
    const rates = await open(t);
    const ofKey = (key: string): Rate => rate(2, 1, `key:${key}:requests`);
    const ofAll = rate(4, 1, 'account:x:requests');
    assert.equal(await takes(rates, ofKey('a'), ofAll), true);
    assert.equal(await takes(rates, ofKey('a'), ofAll), true);
    const flood = Array.from({ length: 50 }, () => takes(rates, ofKey('a'), ofAll));
    const others = ['b', 'c'].map((key) => takes(rates, ofKey(key), ofAll));
    assert.deepEqual(await Promise.all(others), [true, true]);
    assert.ok((await Promise.all(flood)).every((ok) => !ok));
  });

  test('what is refused takes nothing, of this count and of the others', async (t) => {
    const rates = await open(t);
    const tokens = (take: number): Rate => rate(100, take, 'key:a:tokens');
    assert.equal(await takes(rates, rate(3), tokens(60)), true);
    const refused = await rates.take([rate(3), tokens(60)]);
    assert.ok(!refused.ok);
    assert.deepEqual([refused.subject, refused.remaining], ['key:a:tokens', 40]);
    assert.equal(await takes(rates, rate(3), tokens(40)), true);
    assert.equal(await takes(rates, rate(3)), true);
    assert.equal(await takes(rates, rate(3)), false);
  });

  test('what was used less is given back, and what was used more is counted', async (t) => {
    const rates = await open(t);
    const take = async (count: number) => {
      const answer = await rates.take([rate(100, count)]);
      return answer.ok ? answer.ticket : undefined;
    };
    const first = await take(90);
    await first?.count('key:a:requests', 10);
    const second = await take(90);
    assert.ok(second !== undefined, 'there are 90 left');
    await second.count('key:a:requests', 5);
    await second.count('key:a:requests', 0);
    const third = await take(1);
    await third?.count('key:a:requests', 84);
    assert.equal(await take(2), undefined);
    assert.ok((await take(1)) !== undefined, 'one is left');
  });

  test('what is given back late is not taken off the next period', async (t) => {
    const rates = await open(t);
    const short = (take: number): Rate => rate(10, take, 'key:a:requests', 1_000);
    const first = await rates.take([short(10)]);
    await wait(1_050);
    if (first.ok) await first.ticket.count('key:a:requests', 0);
    assert.equal(await takes(rates, short(10)), true);
    assert.equal(await takes(rates, short(1)), false);
  });

  test('who takes more than the limit gets it where nothing else was used', async (t) => {
    const rates = await open(t);
    assert.equal(await takes(rates, rate(100, 5_000)), true);
    assert.equal(await takes(rates, rate(100, 1)), false);
  });

  test('a limit of nothing admits nobody', async (t) => {
    const rates = await open(t);
    assert.equal(await takes(rates, rate(0)), false);
  });
}

suite('rates in memory', () => {
  testRates(() => Promise.resolve(createRates({ clock: systemClock, local: createLocalCounter() })));
});

suite('rates in Redis', { skip: redis === undefined }, () => {
  /** Slow machines are no dead ones here. */
  async function openShared(t: TestContext, url: string, prefix: string, callMs = 10_000) {
    const link = await createRedisLink({ url, prefix, callMs });
    t.after(() => link.close());
    await link.open();
    const counter = createRedisCounter({ link, prefix });
    const shared = () => (link.isUp ? counter : undefined);
    return { link, rates: createRates({ clock: systemClock, local: createLocalCounter(), shared }) };
  }

  testRates(async (t) => {
    const { url, prefix } = useRedis(t);
    return (await openShared(t, url, prefix)).rates;
  });

  test('several processes share one count', async (t) => {
    const { url, prefix } = useRedis(t);
    const processes = await Promise.all([1, 2, 3].map(() => openShared(t, url, prefix)));
    const answers = await Promise.all(
      processes.flatMap(({ rates }) => Array.from({ length: 20 }, () => takes(rates, rate(10)))),
    );
    assert.equal(answers.filter(Boolean).length, 10);
  });

  test('while Redis is away a process counts for itself, and does not wait', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const { link, rates } = await openShared(t, `redis://127.0.0.1:${proxy.port}`, prefix, 1_000);
    const answer = await rates.take([rate(2)]);
    proxy.stall();
    assert.equal(await takes(rates, rate(2)), true);
    assert.equal(link.isUp, false);
    assert.equal(await takes(rates, rate(2)), true);
    assert.equal(await takes(rates, rate(2)), false);
    if (answer.ok) await answer.ticket.count('key:a:requests', 5);
  });
});
