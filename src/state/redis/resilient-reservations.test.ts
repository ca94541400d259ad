import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../lib/clock.ts';
import { startTcpProxy } from '../../../tests/support/services/tcp-proxy.ts';
import type { Reservations } from '../contract.ts';
import { createMemoryReservations } from '../memory/reservations.ts';
import { RedisReservations } from './reservations.ts';
import { createRedisLink, type RedisLink } from './link.ts';
import { ResilientReservations } from './resilient-reservations.ts';
import { openRateLimits } from '../../../tests/support/services/redis-rate-limits.ts';
import { redis, useRedis } from '../../../tests/support/services/redis.ts';

const S = 'key:a:ever:0';
const SPENT_LIFE_MS = 60_000;
/** Longer than a busy machine needs to notice, and far shorter than for ever. */
const SOON_MS = 5_000;

interface Process {
  readonly reservations: Reservations;
  readonly link: RedisLink;
}

/** A limit that a slow test machine does not reach. */
const PATIENT_MS = 10_000;
const SHAKY_MS = 1_000;

async function startProcess(t: TestContext, url: string, prefix: string, callMs = PATIENT_MS): Promise<Process> {
  const link = await createRedisLink({ url, prefix, callMs });
  t.after(() => link.close());
  const shared = new RedisReservations({
    link,
    prefix,
    rateLimitState: openRateLimits(link, prefix),
    spentLifeMs: SPENT_LIFE_MS,
  });
  const reservations = new ResilientReservations(shared, createMemoryReservations({ clock: systemClock }), link);
  await link.open();
  return { reservations, link };
}

async function startBehindProxy(t: TestContext) {
  const { url, prefix } = useRedis(t);
  const { hostname, port } = new URL(url);
  const proxy = await startTcpProxy(t, { host: hostname, port: Number(port || 6_379) });
  const shaky = await startProcess(t, `redis://127.0.0.1:${proxy.port}`, prefix, SHAKY_MS);
  const resilient = await startProcess(t, url, prefix);
  return { proxy, shaky, resilient, prefix };
}

function ask(
  reservations: Reservations,
  id: string,
  nanoUsd: number,
  durable: () => number | Promise<number> = () => 0,
) {
  return reservations.reserve(
    {
      id,
      expiresInMs: 600_000,
      allowances: [{ subject: S, limitNanoUsd: 100, wantNanoUsd: nanoUsd, minNanoUsd: nanoUsd }],
    },
    async () => durable(),
  );
}

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + SOON_MS;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, 'it takes too long');
    await wait(10);
  }
}

suite('holds of several processes', { skip: redis === undefined }, () => {
  test('expires all keys', async (t) => {
    const { shaky, resilient, proxy, prefix } = await startBehindProxy(t);
    await ask(resilient.reservations, '1', 10);
    await resilient.reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    await proxy.cut();
    await ask(shaky.reservations, '2', 10);
    await proxy.restore();
    await until(() => shaky.link.isUp);
    // In one turn: the last open reservation is released, and another one replaces it.
    await Promise.all([
      shaky.reservations.release('2'),
      ask(resilient.reservations, '3', 10),
      shaky.reservations.forget('key:a'),
    ]);
    const keys = (await redis?.keys(`${prefix}*`)) ?? [];
    assert.ok(keys.length >= 3, keys.join(' '));
    for (const key of keys) assert.ok(((await redis?.pttl(key)) ?? 0) > 0, key);
  });

  test('reserves no more than the limit in three processes at once', async (t) => {
    const { url, prefix } = useRedis(t);
    const processes = await Promise.all([1, 2, 3].map(() => startProcess(t, url, prefix)));
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        Promise.all(processes.map(({ reservations }, at) => ask(reservations, `${at}-${index}`, 10))),
      ),
    );
    assert.equal(answers.flat().filter(({ ok }) => ok).length, 10);
  });

  test('reads a limit again in the other processes after one changed it', async (t) => {
    const { url, prefix } = useRedis(t);
    const [one, other] = await Promise.all([startProcess(t, url, prefix), startProcess(t, url, prefix)]);
    let durable = 100;
    assert.equal((await ask(one.reservations, '1', 10, () => durable)).ok, false);
    durable = 0;
    assert.equal((await ask(one.reservations, '2', 10, () => durable)).ok, false);
    await other.reservations.forget('key:a');
    assert.equal((await ask(one.reservations, '3', 10, () => durable)).ok, true);
  });

  test('waits once for a Redis that stalls, and then not at all', async (t) => {
    const { proxy, shaky } = await startBehindProxy(t);
    await ask(shaky.reservations, 'before', 60);
    proxy.stall();
    const startedMs = performance.now();
    assert.equal((await ask(shaky.reservations, 'first', 10)).ok, true);
    assert.ok(performance.now() - startedMs < SOON_MS, 'it does not hang');
    assert.equal(shaky.link.isUp, false);
    // One turn of the event loop for each: no request waits for a timer.
    let turns = 0;
    const count = (): void => {
      turns++;
      setImmediate(count).unref();
    };
    count();
    await ask(shaky.reservations, 'second', 10);
    assert.ok(turns <= 2, `answered at once, not after ${turns} turns`);
  });

  for (const fault of ['stall', 'cut'] as const)
    test(`counts concurrent calls here when Redis is lost by a ${fault}, and reports them once it is back`, async (t) => {
      const { proxy, shaky, resilient } = await startBehindProxy(t);
      await ask(shaky.reservations, 'before', 40);
      const requested = [
        ask(shaky.reservations, '1', 30),
        ask(shaky.reservations, '2', 30),
        ask(shaky.reservations, '3', 30),
      ];
      if (fault === 'stall') proxy.stall();
      else await proxy.cut();
      const answers = await Promise.all([
        ...requested,
        shaky.reservations.release('before'),
        ask(shaky.reservations, '4', 41),
      ]);
      const reserved = [30, 30, 30, 0, 41].reduce(
        (sum, nanoUsd, at) => sum + (answers[at]?.ok === true ? nanoUsd : 0),
        0,
      );
      assert.ok(reserved >= 41 && reserved <= 100, `${reserved} held`);
      if (fault === 'stall') proxy.resume();
      else await proxy.restore();
      await until(() => shaky.link.isUp);
      const left = 100 - reserved;
      for (const { reservations } of [resilient, shaky])
        assert.deepEqual(await ask(reservations, 'too much', left + 1), {
          ok: false,
          subject: S,
          leftNanoUsd: left,
          reservedByOthersNanoUsd: reserved,
        });
    });

  for (const fault of ['stall', 'cut'] as const)
    test(`reports what ended during a ${fault}, after which all processes count alike`, async (t) => {
      const { proxy, shaky, resilient } = await startBehindProxy(t);
      let durable = 0;
      await ask(shaky.reservations, 'settled', 40, () => durable);
      await ask(shaky.reservations, 'released', 30, () => durable);
      if (fault === 'stall') proxy.stall();
      else await proxy.cut();
      assert.equal((await ask(shaky.reservations, 'meanwhile', 20, () => durable)).ok, true);
      durable += 25;
      await shaky.reservations.settle('settled', [{ subject: S, nanoUsd: 25 }]);
      await shaky.reservations.release('released');
      durable += 15;
      await shaky.reservations.settle('meanwhile', [{ subject: S, nanoUsd: 15 }]);
      assert.equal(shaky.link.isUp, false);
      assert.equal((await ask(resilient.reservations, 'too much', 50, () => durable)).ok, false);
      if (fault === 'stall') proxy.resume();
      else await proxy.restore();
      await until(() => shaky.link.isUp);
      for (const { reservations } of [resilient, shaky]) {
        const refusal = await ask(reservations, 'too much', 61, () => durable);
        assert.deepEqual(refusal, { ok: false, subject: S, leftNanoUsd: 60, reservedByOthersNanoUsd: 0 });
      }
      assert.equal((await ask(resilient.reservations, 'all', 60, () => durable)).ok, true);
      assert.equal((await ask(shaky.reservations, 'none', 1, () => durable)).ok, false);
    });

  for (const fault of ['stall', 'cut'] as const)
    test(`moves reservations to Redis when it is back after a ${fault}, and counts their charges once`, async (t) => {
      const { proxy, shaky, resilient } = await startBehindProxy(t);
      let durable = 0;
      await ask(shaky.reservations, 'before', 30, () => durable);
      if (fault === 'stall') proxy.stall();
      else await proxy.cut();
      assert.equal((await ask(shaky.reservations, 'meanwhile', 60, () => durable)).ok, true);
      if (fault === 'stall') proxy.resume();
      else await proxy.restore();
      await until(() => shaky.link.isUp);
      const refused = { ok: false, subject: S, leftNanoUsd: 10, reservedByOthersNanoUsd: 90 };
      for (const { reservations } of [shaky, resilient])
        assert.deepEqual(await ask(reservations, 'too much', 11, () => durable), refused);
      durable += 50;
      await shaky.reservations.settle('meanwhile', [{ subject: S, nanoUsd: 50 }]);
      await shaky.reservations.release('before');
      for (const { reservations } of [shaky, resilient])
        assert.deepEqual(await ask(reservations, 'too much', 51, () => durable), {
          ok: false,
          subject: S,
          leftNanoUsd: 50,
          reservedByOthersNanoUsd: 0,
        });
    });

  test('reports a reservation that is made while Redis comes back before any other command', async (t) => {
    const { proxy, shaky } = await startBehindProxy(t);
    await proxy.cut();
    const begun = Promise.withResolvers<void>();
    const read = Promise.withResolvers<number>();
    const late = ask(shaky.reservations, 'late', 100, () => {
      begun.resolve();
      return read.promise;
    });
    await begun.promise;
    await proxy.restore();
    await until(() => shaky.link.isUp);
    read.resolve(0);
    assert.equal((await late).ok, true);
    assert.deepEqual(await ask(shaky.reservations, 'next', 1), {
      ok: false,
      subject: S,
      leftNanoUsd: 0,
      reservedByOthersNanoUsd: 100,
    });
  });

  test('restores reservations in a Redis that starts empty', async (t) => {
    const { proxy, shaky, resilient, prefix } = await startBehindProxy(t);
    await ask(shaky.reservations, 'before', 60);
    await proxy.cut();
    const keys = (await redis?.keys(`${prefix}*`)) ?? [];
    assert.ok(keys.length > 0);
    await redis?.del(...keys);
    await proxy.restore();
    await until(() => shaky.link.isUp);
    assert.equal((await ask(resilient.reservations, 'too much', 41)).ok, false);
  });

  test('counts in the process without Redis at the start, until it is there', async (t) => {
    const { proxy } = await startBehindProxy(t);
    await proxy.cut();
    const late = await startProcess(t, `redis://127.0.0.1:${proxy.port}`, useRedis(t).prefix);
    assert.equal(late.link.isUp, false);
    assert.equal((await ask(late.reservations, '1', 60)).ok, true);
    assert.equal((await ask(late.reservations, '2', 60)).ok, false);
    await late.reservations.release('1');
    await proxy.restore();
    await until(() => late.link.isUp);
    assert.equal((await ask(late.reservations, '3', 100)).ok, true);
  });

  test('does not spend again, while Redis is away, what the process has reserved in it', async (t) => {
    const { proxy, shaky } = await startBehindProxy(t);
    await ask(shaky.reservations, 'before', 60);
    await proxy.cut();
    const refusal = await ask(shaky.reservations, 'too much', 50);
    assert.deepEqual(refusal, { ok: false, subject: S, leftNanoUsd: 40, reservedByOthersNanoUsd: 60 });
    await shaky.reservations.release('before');
    assert.equal((await ask(shaky.reservations, 'now', 100)).ok, true);
  });

  test('checks whether anything is left while Redis is away', async (t) => {
    const { shaky, proxy } = await startBehindProxy(t);
    const check = (spent: number) =>
      shaky.reservations.check([{ subject: S, limitNanoUsd: 100, wantNanoUsd: 1, minNanoUsd: 1 }], async () => spent);
    assert.equal((await check(99)).ok, true);
    await proxy.cut();
    assert.equal((await check(100)).ok, false, 'what Redis knew is read again');
  });

  test('does not blame Redis for a sum that cannot be read', async (t) => {
    const { shaky } = await startBehindProxy(t);
    const hold = {
      id: '1',
      expiresInMs: 1_000,
      allowances: [{ subject: S, limitNanoUsd: 9, wantNanoUsd: 1, minNanoUsd: 1 }],
    };
    await assert.rejects(
      shaky.reservations.reserve(hold, () => Promise.reject(new Error('the database is away'))),
      /the database is away/,
    );
    assert.equal(shaky.link.isUp, true);
  });
});
