import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/services/tcp-proxy.ts';
import type { ReservationRequest, PermitRequest, ReservationResult } from '../contract.ts';
import { createMemoryReservations } from '../memory/reservations.ts';
import { RedisReservations } from './reservations.ts';
import { createRedisLink, RedisAway, type RedisLink } from './link.ts';
import { ResilientReservations } from './resilient-reservations.ts';
import { openRateLimits } from '../../../tests/support/services/redis-rate-limits.ts';
import { redis, useRedis } from '../../../tests/support/services/redis.ts';

const S = 'key:a:ever:0';
const TOKENS = 'key:a:tokens';

/** Makes a permit of one request at a time, and so many tokens a minute. */
function permitRequest(id: string, tokens = 10): PermitRequest {
  return {
    slots: { id, expiresInMs: 600_000, subjects: [{ subject: 'key:a', limit: 1 }] },
    rates: [{ owner: 'key:a', subject: TOKENS, limit: 100, periodMs: 60_000, take: tokens }],
  };
}

function reservationOf(id: string, nanoUsd: number, permit = permitRequest(id)): ReservationRequest {
  const allowances = [{ subject: S, limitNanoUsd: 100, wantNanoUsd: nanoUsd, minNanoUsd: nanoUsd }];
  return { id, expiresInMs: 600_000, allowances, permit };
}

function permitOf(answer: ReservationResult) {
  assert.ok(answer.ok && answer.permitted?.ok === true, 'it has the money and is let through');
  return answer.permitted.permit;
}

const nothingSpent = () => Promise.resolve(0);

/** Counts the commands of a link, and the calls, one for each turn of the event loop. It can lose answers. */
function watch(link: RedisLink) {
  let calls = 0;
  let requestedCount = 0;
  let isSameTurn = false;
  let isLossy = false;
  const ask = async <Answer>(askIt: () => Promise<Answer>): Promise<Answer> => {
    requestedCount++;
    if (!isSameTurn) calls++;
    isSameTurn = true;
    setImmediate(() => (isSameTurn = false));
    const answer = await askIt();
    if (isLossy) throw new RedisAway('The answer is lost.', true);
    return answer;
  };
  const watched: RedisLink = {
    get isUp() {
      return link.isUp;
    },
    call: (command) => ask(() => link.call(command)),
    run: (...step) => ask(() => link.run(...step)),
    runBoth: (...steps) => ask(() => link.runBoth(...steps)),
    onBack: (task) => link.onBack(task),
    open: () => link.open(),
    close: () => link.close(),
  };
  return {
    watched,
    calls: () => calls,
    requested: () => requestedCount,
    lose: (loses: boolean) => void (isLossy = loses),
  };
}

async function openProcess(t: TestContext, url: string, prefix: string, callMs = 10_000) {
  const link = await createRedisLink({ url, prefix, callMs });
  t.after(() => link.close());
  const { watched, calls, requested, lose } = watch(link);
  const rateLimitState = openRateLimits(watched, prefix);
  const shared = new RedisReservations({ link: watched, prefix, rateLimitState, spentLifeMs: 60_000 });
  const reservations = new ResilientReservations(shared, createMemoryReservations({ clock: systemClock }), watched);
  await link.open();
  return { link, rateLimitState, reservations, calls, requested, lose };
}

suite('a reservation with its permit', { skip: redis === undefined }, () => {
  async function open(t: TestContext) {
    const { url, prefix } = useRedis(t);
    return openProcess(t, url, prefix);
  }

  test('takes one call to make, and one to end', async (t) => {
    const { reservations, rateLimitState, calls } = await open(t);
    const permit = permitOf(await reservations.reserve(reservationOf('1', 60), nothingSpent));
    assert.equal(calls(), 2, 'the sum had to be read first');
    await Promise.all([reservations.settle('1', [{ subject: S, nanoUsd: 5 }]), permit.end(new Map([[TOKENS, 20]]))]);
    assert.equal(calls(), 3);
    const second = permitOf(
      await reservations.reserve(reservationOf('2', 95, permitRequest('2', 80)), () => assert.fail('it is known')),
    );
    assert.equal(calls(), 4);
    const refused = await rateLimitState.acquire({ rates: permitRequest('3', 1).rates });
    assert.ok(!refused.ok && refused.by === 'rates' && refused.remaining === 0, 'all tokens were counted');
    await second.end();
  });

  test('takes no slot and no rate where too little money is left', async (t) => {
    const { reservations, rateLimitState } = await open(t);
    for (const _ of [1, 2, 3]) {
      const answer = await reservations.reserve(reservationOf('1', 101, permitRequest('1', 50)), nothingSpent);
      assert.ok(!answer.ok);
      assert.equal(answer.subject, S);
    }
    assert.equal((await rateLimitState.acquire(permitRequest('2', 100))).ok, true);
  });

  test('keeps the reservation of a request that a rate limit refuses, for the caller to release', async (t) => {
    const { reservations } = await open(t);
    const permit = permitOf(await reservations.reserve(reservationOf('1', 50), nothingSpent));
    const answer = await reservations.reserve(reservationOf('2', 50), nothingSpent);
    assert.deepEqual(answer.ok && answer.permitted, { ok: false, by: 'slots', subject: 'key:a' });
    assert.equal((await reservations.reserve(reservationOf('3', 1), nothingSpent)).ok, false);
    await Promise.all([reservations.release('2'), permit.end()]);
    permitOf(await reservations.reserve(reservationOf('3', 50), nothingSpent));
  });

  test('takes separate calls while Redis is away', async (t) => {
    const { link, reservations } = await open(t);
    link.close();
    const answer = await reservations.reserve(reservationOf('1', 60), nothingSpent);
    assert.ok(answer.ok && answer.permitted === undefined);
  });

  test('leaves no slot taken that its caller does not know of', async (t) => {
    const { url, prefix } = useRedis(t);
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
    const shaky = await openProcess(t, `redis://127.0.0.1:${proxy.port}`, prefix);
    const other = await openProcess(t, url, prefix);
    assert.equal((await other.reservations.check(reservationOf('0', 1).allowances, nothingSpent)).ok, true);
    shaky.lose(true);
    const refused = await shaky.reservations.reserve(reservationOf('1', 60), () => Promise.resolve(50));
    assert.ok(!refused.ok, 'by what this process knows too little is left');
    const full = await other.rateLimitState.acquire(permitRequest('2'));
    assert.ok(!full.ok && full.by === 'slots', 'Redis made the hold, and let it through');
    await proxy.cut();
    while (shaky.link.isUp) await wait(5);
    shaky.lose(false);
    await proxy.restore();
    while (!shaky.link.isUp) await wait(5);
    permitOf(await other.reservations.reserve(reservationOf('3', 100), nothingSpent));
  });

  test('returns slots to Redis once, however many requests end together', async (t) => {
    const { rateLimitState, lose, requested } = await open(t);
    const slotsOf = (id: string) => ({ id, expiresInMs: 600_000, subjects: [{ subject: 'key:a', limit: 40 }] });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, id) => rateLimitState.acquire({ slots: slotsOf(`${id}`), rates: [] })),
    );
    const passes = answers.map((answer) => (answer.ok ? answer.permit : assert.fail('there is room for all')));
    lose(true);
    await Promise.all(passes.splice(20).map((permit) => permit.end()));
    lose(false);
    const before = requested();
    await Promise.all(passes.map((permit) => permit.end()));
    assert.equal(requested() - before, 40, 'twenty that leave, and twenty that left');
  });

  test('leaves the slot to a request that is admitted after all', async (t) => {
    const { url, prefix } = useRedis(t);
    const [process, other] = await Promise.all([openProcess(t, url, prefix), openProcess(t, url, prefix)]);
    process.lose(true);
    assert.equal((await process.rateLimitState.acquire(permitRequest('1'))).ok, true);
    process.lose(false);
    const inside = await process.rateLimitState.acquire(permitRequest('1'));
    const elsewhere = { id: '2', expiresInMs: 600_000, subjects: [{ subject: 'key:b', limit: 1 }] };
    const next = await process.rateLimitState.acquire({ slots: elsewhere, rates: [] });
    assert.ok(inside.ok && next.ok);
    await next.permit.end();
    assert.equal((await other.rateLimitState.acquire(permitRequest('3'))).ok, false);
    await inside.permit.end();
    assert.equal((await other.rateLimitState.acquire(permitRequest('3'))).ok, true);
  });
});
