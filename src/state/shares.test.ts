import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { Allowance, Reservations, ReservationResult } from './contract.ts';
import { createMemoryReservations } from './memory/reservations.ts';
import { endedBy, RedisReservations } from './redis/reservations.ts';
import { createRedisLink } from './redis/link.ts';
import { openLocalState } from '../../tests/support/services/local-state.ts';
import { openRateLimits } from '../../tests/support/services/redis-rate-limits.ts';
import { redis, useRedis } from '../../tests/support/services/redis.ts';

const LIFE_MS = 600_000;
const KEY = 'key:a:ever:0';
const CREDIT = 'account:a:ever:0';

const nothingSpent = (): Promise<number> => Promise.resolve(0);

/** Makes one allowance that begins with a part of the rest. */
function part(limitNanoUsd: number, [min, least, want]: readonly [number, number, number], subject = KEY): Allowance {
  const share = { leastNanoUsd: least, spentNanoUsd: 0 };
  return { subject, limitNanoUsd, minNanoUsd: min, wantNanoUsd: want, share };
}

function amounts(answer: ReservationResult): readonly number[] {
  return answer.ok ? [...answer.reservedNanoUsd.values()] : [];
}

function testShares(open: (t: TestContext) => Promise<Reservations>): void {
  let ids = 0;
  const reserve = async (reservations: Reservations, ...allowances: readonly Allowance[]): Promise<readonly number[]> =>
    amounts(await reservations.reserve({ id: `${++ids}`, expiresInMs: LIFE_MS, allowances }, nothingSpent));

  test('reserves a quarter of what is left, the least where that is more, and then the rest', async (t) => {
    const reservations = await open(t);
    const taken: number[] = [];
    for (let round = 0; round < 9; round++) taken.push(...(await reserve(reservations, part(1_000, [40, 150, 500]))));
    assert.deepEqual(taken, [250, 187, 150, 150, 150, 113]);
    assert.deepEqual(await reserve(reservations, part(10_000, [40, 150, 500], CREDIT)), [500]);
  });

  test('reserves a quarter of what is left beside what the request itself has spent', async (t) => {
    const reservations = await open(t);
    await reservations.reserve(
      { id: 'first', expiresInMs: LIFE_MS, allowances: [part(1_000, [1, 100, 100])] },
      nothingSpent,
    );
    const later = { ...part(1_000, [101, 150, 1_000]), share: { leastNanoUsd: 150, spentNanoUsd: 100 } };
    const moved = { id: 'second', expiresInMs: LIFE_MS, allowances: [later], instead: ['first'] };
    assert.deepEqual(amounts(await reservations.reserve(moved, nothingSpent)), [325]);
  });

  test('reserves of no limit what another one does not pay for', async (t) => {
    const reservations = await open(t);
    const key = { subject: KEY, limitNanoUsd: 60, minNanoUsd: 10, wantNanoUsd: 110 };
    const credit = { subject: CREDIT, limitNanoUsd: 5_000, minNanoUsd: 20, wantNanoUsd: 220 };
    assert.deepEqual(await reserve(reservations, credit, key), [120, 60]);
    assert.deepEqual(await reserve(reservations, { ...credit, minNanoUsd: 220 }), [220], 'all or nothing stays so');
  });
}

async function openRedis(t: TestContext): Promise<Reservations> {
  const { url, prefix } = useRedis(t);
  const link = await createRedisLink({ url, prefix, callMs: 10_000 });
  t.after(() => link.close());
  await link.open();
  const shared = new RedisReservations({
    link,
    prefix,
    rateLimitState: openRateLimits(link, prefix),
    spentLifeMs: LIFE_MS,
  });
  const reserved = new Map<string, readonly string[]>();
  return {
    reserve(request, load) {
      reserved.set(request.id, [...new Set(request.allowances.map(({ subject }) => subject))]);
      return shared.reserve(request, load);
    },
    check: (allowances, load) => shared.check(allowances, load),
    settle: (id, charges) => shared.finish(id, endedBy(reserved.get(id) ?? [], charges)),
    release: (id) => shared.finish(id, endedBy(reserved.get(id) ?? [], [])),
    forget: (owner) => shared.forget(owner),
  };
}

async function openWorker(t: TestContext): Promise<Reservations> {
  const { workers } = await openLocalState(t, 1, { reservations: openMemory() });
  assert.ok(workers[0] !== undefined);
  return workers[0].reservations;
}

const openMemory = (): Reservations => createMemoryReservations({ clock: { nowMs: () => 0, monotonicMs: () => 0 } });

suite('parts of a limit in memory', () => testShares(() => Promise.resolve(openMemory())));
suite('parts of a limit over the local socket', () => testShares(openWorker));
suite('parts of a limit in Redis', { skip: redis === undefined }, () => testShares(openRedis));

const amount = fc.integer({ min: 0, max: 400 });
const limitOf = fc.record({ limit: fc.integer({ min: 1, max: 3_000 }), sizes: fc.tuple(amount, amount, amount) });
/** The next action: a request begins, extends its reservation, or ends. */
const step = fc.record({
  type: fc.constantFrom('begin', 'begin', 'grow', 'settle', 'release'),
  limits: fc.tuple(limitOf, limitOf),
  of: fc.nat({ max: 20 }),
  hasShare: fc.boolean(),
  quarters: fc.integer({ min: 0, max: 4 }),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Plays the same schedule on any implementation, and returns the result of each step. */
async function play(reservations: Reservations, name: string, steps: readonly Step[]): Promise<readonly unknown[]> {
  const open: { id: string; reserved: ReadonlyMap<string, number> }[] = [];
  const committed = new Map<string, number>();
  const stated: unknown[] = [];
  for (const [at, { type, limits, of, hasShare, quarters }] of steps.entries()) {
    const current = type === 'begin' ? undefined : open[of % Math.max(1, open.length)];
    if (type === 'settle' || type === 'release') {
      if (current === undefined) continue;
      open.splice(open.indexOf(current), 1);
      const charges = [...current.reserved].map(([subject, nanoUsd]) => ({
        subject,
        nanoUsd: type === 'release' ? 0 : Math.floor((nanoUsd * quarters) / 4),
      }));
      for (const { subject, nanoUsd } of charges)
        committed.set(subject, (committed.get(subject) ?? 0) - (current.reserved.get(subject) ?? 0) + nanoUsd);
      await (type === 'release' ? reservations.release(current.id) : reservations.settle(current.id, charges));
      continue;
    }
    const allowances = limits.map(({ limit, sizes }, index): Allowance => {
      const subject = `${index === 0 ? KEY : CREDIT}:${name}`;
      const spentNanoUsd = current?.reserved.get(subject) ?? 0;
      const [min = 0, least = 0, want = 0] = sizes.toSorted((a, b) => a - b).map((size) => size + spentNanoUsd);
      const share = hasShare ? { share: { leastNanoUsd: least, spentNanoUsd } } : {};
      return { subject, limitNanoUsd: limit, minNanoUsd: min, wantNanoUsd: want, ...share };
    });
    const id = `${name}-${at}`;
    const instead = current === undefined ? [] : [current.id];
    const answer = await reservations.reserve({ id, expiresInMs: LIFE_MS, allowances, instead }, nothingSpent);
    stated.push(answer.ok ? amounts(answer) : answer);
    if (!answer.ok) continue;
    if (current !== undefined) {
      await reservations.release(current.id);
      open.splice(open.indexOf(current), 1);
    }
    open.push({ id, reserved: answer.reservedNanoUsd });
    for (const { subject, limitNanoUsd, minNanoUsd, wantNanoUsd } of allowances) {
      const taken = answer.reservedNanoUsd.get(subject) ?? -1;
      assert.ok(taken >= minNanoUsd && taken <= wantNanoUsd, `${taken} of ${minNanoUsd} to ${wantNanoUsd}`);
      const sum = (committed.get(subject) ?? 0) + taken - (current?.reserved.get(subject) ?? 0);
      committed.set(subject, sum);
      assert.ok(sum <= limitNanoUsd, `${sum} of ${limitNanoUsd} is spent or reserved`);
    }
  }
  return stated;
}

test('keeps the sum of reservations within every limit, by the same rule in memory and in Redis', async (t) => {
  const shared = redis === undefined ? undefined : await openRedis(t);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
      const name = `run${run++}`;
      const local = await play(openMemory(), name, steps);
      if (shared !== undefined) assert.deepEqual(await play(shared, name, steps), local);
    }),
    { numRuns: 60 },
  );
});
