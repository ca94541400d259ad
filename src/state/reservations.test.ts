import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { ReservationsBusy, type Allowance, type Reservations, type LoadSpent } from './contract.ts';
import { createMemoryReservations } from './memory/reservations.ts';
import { endedBy, RedisReservations } from './redis/reservations.ts';
import { createRedisLink } from './redis/link.ts';
import { openLocalState } from '../../tests/support/services/local-state.ts';
import { openRateLimits } from '../../tests/support/services/redis-rate-limits.ts';
import { redis, useRedis } from '../../tests/support/services/redis.ts';

/** Reservations in a test, without other users. */
interface TestedReservations {
  readonly reservations: Reservations;
  /** Lets time pass for the reservations. */
  readonly pass: (ms: number) => Promise<void>;
  /** Lets other work run, for a random while that the number decides. */
  readonly pause: (turns: number) => Promise<void>;
  /** Whether `pass` takes no real time. */
  readonly isTimeFree: boolean;
  /** How often the property is tried: less often where each call goes through a socket. */
  readonly runs: number;
}

interface OpenOptions {
  /** How long a sum is used after it was read. */
  readonly spentLifeMs?: number;
}

type OpenReservations = (t: TestContext, options?: OpenOptions) => Promise<TestedReservations>;

const LONG_MS = 600_000;
const S = 'key:a:ever:0';

function allow(limitNanoUsd: number, wantNanoUsd: number, minNanoUsd = wantNanoUsd, subject = S): Allowance {
  return { subject, limitNanoUsd, wantNanoUsd, minNanoUsd };
}

function reservationOf(id: string, ...allowances: readonly Allowance[]) {
  return { id, expiresInMs: LONG_MS, allowances };
}

const nothingSpent: LoadSpent = () => Promise.resolve(0);

/** Tests what must hold for reservations in every implementation. */
function testReservations(open: OpenReservations): void {
  test('reserves money for one request alone', async (t) => {
    const { reservations } = await open(t);
    assert.deepEqual(await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent), {
      ok: true,
      reservedNanoUsd: new Map([[S, 60]]),
    });
    assert.deepEqual(await reservations.reserve(reservationOf('2', allow(100, 60)), nothingSpent), {
      ok: false,
      subject: S,
      leftNanoUsd: 40,
      reservedByOthersNanoUsd: 60,
    });
    await reservations.release('1');
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 60)), nothingSpent)).ok, true);
  });

  test('checks for a rest without a reservation, and despite reservations', async (t) => {
    const { reservations } = await open(t);
    let durable = 99;
    const load: LoadSpent = () => Promise.resolve(durable);
    assert.equal((await reservations.reserve(reservationOf('1', allow(100, 1)), load)).ok, true);
    assert.deepEqual(await reservations.check([allow(100, 1)], load), { ok: true, reservedNanoUsd: new Map([[S, 1]]) });
    assert.equal(
      (await reservations.reserve(reservationOf('2', allow(100, 1)), load)).ok,
      false,
      'the only one is held',
    );
    durable = 100;
    await reservations.settle('1', [{ subject: S, nanoUsd: 1 }]);
    assert.deepEqual(await reservations.check([allow(100, 1)], load), {
      ok: false,
      subject: S,
      leftNanoUsd: 0,
      reservedByOthersNanoUsd: 0,
    });
  });

  test('reserves the lesser of what is wanted and what is left', async (t) => {
    const { reservations } = await open(t);
    const first = await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent);
    const second = await reservations.reserve(reservationOf('2', allow(100, 60, 1)), nothingSpent);
    const third = await reservations.reserve(reservationOf('3', allow(100, 60, 1)), nothingSpent);
    assert.deepEqual(
      [first, second].map((answer) => answer.ok && answer.reservedNanoUsd.get(S)),
      [60, 40],
    );
    assert.equal(third.ok, false);
  });

  test('gives a replacing reservation what the replaced ones had', async (t) => {
    const { reservations } = await open(t);
    await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent);
    await reservations.reserve(reservationOf('2', allow(100, 20)), nothingSpent);
    await reservations.reserve(reservationOf('3', allow(100, 15)), nothingSpent);
    const moved = await reservations.reserve(
      { ...reservationOf('4', allow(100, 85)), instead: ['1', '2', 'none'] },
      nothingSpent,
    );
    assert.deepEqual(moved, { ok: true, reservedNanoUsd: new Map([[S, 85]]) });
    await reservations.release('1');
    await reservations.release('2');
    assert.equal(
      (await reservations.reserve(reservationOf('5', allow(100, 1)), nothingSpent)).ok,
      false,
      'all of it is held',
    );
    await reservations.settle('4', [{ subject: S, nanoUsd: 30 }]);
    assert.equal((await reservations.reserve(reservationOf('6', allow(100, 55)), nothingSpent)).ok, true);
  });

  test('keeps a reservation where too little is left for its replacement', async (t) => {
    const { reservations } = await open(t);
    await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent);
    await reservations.reserve(reservationOf('2', allow(100, 30)), nothingSpent);
    assert.deepEqual(
      await reservations.reserve({ ...reservationOf('3', allow(100, 80)), instead: ['1'] }, nothingSpent),
      {
        ok: false,
        subject: S,
        leftNanoUsd: 70,
        reservedByOthersNanoUsd: 30,
      },
    );
    assert.equal((await reservations.reserve(reservationOf('4', allow(100, 11)), nothingSpent)).ok, false);
    await reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await reservations.reserve(reservationOf('4', allow(100, 60)), nothingSpent)).ok, true);
  });

  test('reserves nothing beyond a limit, not even zero', async (t) => {
    const { reservations } = await open(t);
    const answer = await reservations.reserve(reservationOf('1', allow(100, 0)), () => Promise.resolve(101));
    assert.deepEqual(answer, { ok: false, subject: S, leftNanoUsd: -1, reservedByOthersNanoUsd: 0 });
  });

  test('answers concurrent requests independently', async (t) => {
    const { reservations } = await open(t);
    const other = 'key:b:ever:0';
    await reservations.reserve(reservationOf('0', allow(100, 50), allow(100, 50, 50, other)), nothingSpent);
    const answers = await Promise.all([
      reservations.reserve(reservationOf('1', allow(100, 60)), noLoad),
      reservations.reserve(reservationOf('2', allow(100, 40, 40, other)), noLoad),
      reservations.check([allow(100, 101, 101, other)], noLoad),
      reservations.reserve(reservationOf('3', allow(100, 40)), noLoad),
      reservations.settle('0', [{ subject: other, nanoUsd: 5 }]),
      reservations.reserve(reservationOf('4', allow(100, 55, 55, other), allow(100, 60)), noLoad),
    ]);
    assert.deepEqual(
      answers.map((answer) => answer && answer.ok),
      [false, true, false, true, undefined, true],
    );
    assert.equal((await reservations.reserve(reservationOf('5', allow(100, 1)), noLoad)).ok, false);
    assert.equal((await reservations.reserve(reservationOf('6', allow(100, 1, 1, other)), noLoad)).ok, false);
  });

  test('reserves from all subjects or from none', async (t) => {
    const { reservations } = await open(t);
    const other = 'workspace:b:daily:5';
    const refused = await reservations.reserve(
      reservationOf('1', allow(100, 50), allow(20, 50, 50, other)),
      nothingSpent,
    );
    assert.deepEqual(refused, { ok: false, subject: other, leftNanoUsd: 20, reservedByOthersNanoUsd: 0 });
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('applies the lower of two limits of one subject, and charges the subject once', async (t) => {
    const { reservations } = await open(t);
    const both = reservationOf('1', allow(100, 50), allow(70, 50));
    assert.deepEqual(await reservations.reserve(both, nothingSpent), { ok: true, reservedNanoUsd: new Map([[S, 50]]) });
    assert.equal(
      (await reservations.reserve(reservationOf('2', allow(100, 30), allow(70, 30)), nothingSpent)).ok,
      false,
    );
    assert.equal((await reservations.reserve(reservationOf('3', allow(100, 30)), nothingSpent)).ok, true);
  });

  test('returns the existing reservation for a second request with its id', async (t) => {
    const { reservations } = await open(t);
    await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent);
    assert.deepEqual(await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent), {
      ok: true,
      reservedNanoUsd: new Map([[S, 60]]),
    });
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 40)), nothingSpent)).ok, true);
  });

  test('counts a settled charge as spent, and releases the rest', async (t) => {
    const { reservations } = await open(t);
    await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent);
    await reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 91)), noLoad)).ok, false);
    assert.equal((await reservations.reserve(reservationOf('3', allow(100, 90)), noLoad)).ok, true);
  });

  test('counts a charge once that is settled twice', async (t) => {
    const { reservations } = await open(t);
    let durable = 0;
    const load: LoadSpent = () => Promise.resolve(durable);
    await reservations.reserve(reservationOf('1', allow(100, 60)), load);
    durable = 10;
    await reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    await reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 90)), load)).ok, true);
  });

  test('counts a charge once whose reservation has expired', async (t) => {
    const { reservations, pass } = await open(t);
    let durable = 0;
    const load: LoadSpent = () => Promise.resolve(durable);
    await reservations.reserve({ id: '1', expiresInMs: 1_000, allowances: [allow(100, 60)] }, load);
    await pass(1_050);
    durable = 10;
    await reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 91)), load)).ok, false);
    assert.equal((await reservations.reserve(reservationOf('3', allow(100, 90)), load)).ok, true);
  });

  test('expires a reservation that is not ended', async (t) => {
    const { reservations, pass } = await open(t);
    await reservations.reserve({ id: '1', expiresInMs: 1_000, allowances: [allow(100, 100)] }, nothingSpent);
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 100)), nothingSpent)).ok, false);
    await pass(1_050);
    assert.equal((await reservations.reserve(reservationOf('3', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('reads a sum once while it is valid, and again when its time has passed', async (t) => {
    const { reservations, pass } = await open(t, { spentLifeMs: 1_000 });
    let reads = 0;
    const load: LoadSpent = () => Promise.resolve(++reads);
    for (const id of ['1', '2', '3']) await reservations.reserve(reservationOf(id, allow(100, 1)), load);
    assert.equal(reads, 1);
    await pass(1_050);
    await reservations.reserve(reservationOf('4', allow(100, 1)), load);
    assert.equal(reads, 2);
  });

  test('shares one read between concurrent requests', async (t) => {
    const { reservations, pause } = await open(t);
    let reads = 0;
    const load: LoadSpent = async () => {
      await pause(20);
      return ++reads;
    };
    const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
    await Promise.all(ids.map((id) => reservations.reserve(reservationOf(id, allow(1_000, 1)), load)));
    assert.equal(reads, 1);
  });

  test('reads the sums of a forgotten owner again, and not those of others', async (t) => {
    const { reservations } = await open(t);
    const reads: string[] = [];
    const load: LoadSpent = (subject) => {
      reads.push(subject);
      return Promise.resolve(0);
    };
    const daily = 'key:a:daily:5';
    const longer = 'key:ab:daily:5';
    const all = (id: string) => reservationOf(id, allow(9, 1), allow(9, 1, 1, daily), allow(9, 1, 1, longer));
    await reservations.reserve(all('1'), load);
    await reservations.forget('key:a');
    await reservations.reserve(all('2'), load);
    assert.deepEqual(reads, [S, daily, longer, S, daily]);
  });

  test('reads a sum again that was forgotten while it was being read', async (t) => {
    const { reservations } = await open(t);
    const read = Promise.withResolvers<number>();
    const begun = Promise.withResolvers<void>();
    let reads = 0;
    const answer = reservations.reserve(reservationOf('1', allow(100, 100)), () => {
      begun.resolve();
      return ++reads === 1 ? read.promise : Promise.resolve(0);
    });
    await begun.promise;
    await reservations.forget('key:a');
    read.resolve(50);
    assert.equal((await answer).ok, true);
  });

  test('releases no reservation when an owner is forgotten', async (t) => {
    const { reservations } = await open(t);
    await reservations.reserve(reservationOf('1', allow(100, 60)), nothingSpent);
    await reservations.forget('key:a');
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 60)), nothingSpent)).ok, false);
    await reservations.release('1');
    assert.equal((await reservations.reserve(reservationOf('3', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('does not use a sum that was read before a charge after that charge', async (t) => {
    const { reservations } = await open(t);
    let durable = 0;
    await reservations.reserve(reservationOf('1', allow(100, 60)), () => Promise.resolve(durable));
    await reservations.forget('key:a');
    const read = Promise.withResolvers<number>();
    const begun = Promise.withResolvers<void>();
    let reads = 0;
    const second = reservations.reserve(reservationOf('2', allow(100, 95)), () => {
      begun.resolve();
      return ++reads === 1 ? read.promise : Promise.resolve(durable);
    });
    await begun.promise;
    durable = 10;
    await reservations.settle('1', [{ subject: S, nanoUsd: 10 }]);
    read.resolve(0);
    assert.deepEqual(await second, { ok: false, subject: S, leftNanoUsd: 90, reservedByOthersNanoUsd: 0 });
  });

  test('counts a charge once when its sum was read after it was durable and before it was settled', async (t) => {
    const { reservations } = await open(t);
    let durable = 0;
    const load: LoadSpent = () => Promise.resolve(durable);
    await reservations.reserve(reservationOf('1', allow(100, 60)), load);
    durable = 60;
    await reservations.forget('key:a');
    assert.equal((await reservations.reserve(reservationOf('2', allow(200, 1)), load)).ok, true);
    await reservations.settle('1', [{ subject: S, nanoUsd: 60 }]);
    assert.equal((await reservations.reserve(reservationOf('3', allow(100, 39)), load)).ok, true);
  });

  test('answers every request that waits for a sum while charges are settled', async (t) => {
    const { reservations, pause } = await open(t);
    let durable = 100;
    let next = 0;
    const running = Array.from({ length: 40 }, (_, index) => `running ${index}`);
    for (const id of running)
      await reservations.reserve(reservationOf(id, allow(1_000, 1)), () => Promise.resolve(durable));
    await reservations.forget('key:a');
    // Each sum that is read may or may not include the charge that is settled meanwhile.
    const load: LoadSpent = async () => {
      await pause(2);
      durable++;
      await reservations.settle(running[next++] ?? '', [{ subject: S, nanoUsd: 1 }]);
      return durable;
    };
    const ids = Array.from({ length: 16 }, (_, index) => `waiting ${index}`);
    const answers = await Promise.all(ids.map((id) => reservations.reserve(reservationOf(id, allow(141, 50)), load)));
    assert.deepEqual(
      answers.map(({ ok }) => ok),
      ids.map(() => false),
    );
    assert.ok(next < 8, `they share what is read: ${next} reads`);
  });

  test('reports busy while every sum is outdated before it is read', async (t) => {
    const { reservations } = await open(t);
    const load: LoadSpent = async () => {
      await reservations.forget('key:a');
      return 0;
    };
    await assert.rejects(reservations.reserve(reservationOf('1', allow(100, 1)), load), ReservationsBusy);
  });

  test('fails the request when a sum cannot be read, reserves nothing, and lets the next one try again', async (t) => {
    const { reservations } = await open(t);
    const broken = (): Promise<number> => Promise.reject(new Error('the database is away'));
    await assert.rejects(reservations.reserve(reservationOf('1', allow(100, 60)), broken), /the database is away/);
    assert.equal((await reservations.reserve(reservationOf('2', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('counts sums up to 2^53 exactly', async (t) => {
    const { reservations } = await open(t);
    const limit = Number.MAX_SAFE_INTEGER;
    const spent: LoadSpent = () => Promise.resolve(limit - 3);
    assert.deepEqual(await reservations.reserve(reservationOf('1', allow(limit, 4)), spent), {
      ok: false,
      subject: S,
      leftNanoUsd: 3,
      reservedByOthersNanoUsd: 0,
    });
    await reservations.reserve(reservationOf('2', allow(limit, 2)), spent);
    await reservations.settle('2', [{ subject: S, nanoUsd: 2 }]);
    const rest = await reservations.reserve(reservationOf('3', allow(limit, 2, 1)), noLoad);
    assert.equal(rest.ok && rest.reservedNanoUsd.get(S), 1);
  });

  test('reports reservations, rest and spending to the last digit', async (t) => {
    const { reservations } = await open(t);
    const limit = Number.MAX_SAFE_INTEGER;
    const [spent, reserved, charge] = [1_234_567_890_123_457, 2_345_678_901_234_567, 1_111_111_111_111_111];
    const load: LoadSpent = () => Promise.resolve(spent);
    const first = await reservations.reserve(reservationOf('1', allow(limit, reserved)), load);
    assert.equal(first.ok && first.reservedNanoUsd.get(S), reserved);
    const again = await reservations.reserve(reservationOf('1', allow(limit, reserved)), load);
    assert.equal(again.ok && again.reservedNanoUsd.get(S), reserved);
    const tooMuch = allow(limit, limit);
    const left = limit - spent - reserved;
    const refusal = { ok: false, subject: S, leftNanoUsd: left, reservedByOthersNanoUsd: reserved };
    assert.deepEqual(await reservations.reserve(reservationOf('2', tooMuch), noLoad), refusal);
    await reservations.settle('1', [{ subject: S, nanoUsd: charge }]);
    const rest = await reservations.reserve(reservationOf('3', allow(limit, limit, 1)), noLoad);
    assert.equal(rest.ok && rest.reservedNanoUsd.get(S), limit - spent - charge);
    await reservations.release('3');
    await reservations.forget(S.split(':').slice(0, 2).join(':'));
    const durable = await reservations.reserve(reservationOf('4', tooMuch), () => Promise.resolve(spent + charge));
    assert.deepEqual(durable, { ...refusal, leftNanoUsd: limit - spent - charge, reservedByOthersNanoUsd: 0 });
  });

  testAnyOrder(open);
}

const noLoad: LoadSpent = (subject) => Promise.reject(new Error(`${subject} is known`));

/** One request of the property below. Numbers of turns say how long its steps take. */
interface Requested {
  readonly subjects: readonly number[];
  readonly want: number;
  readonly min: number;
  readonly outcome: 'settled' | 'settled twice' | 'released' | 'crashed before' | 'crashed after';
  /** The charged part of the reservation, in quarters. */
  readonly quarters: number;
  /** The growth of its reservation, each time that it goes on. */
  readonly growths: readonly number[];
  /** Whether sums are read again before it. */
  readonly forgets: boolean;
  readonly turns: readonly number[];
}

const LIMITS = [120, 200, 300];
const NAMES = ['key:a:daily:1', 'key:a:ever:0', 'workspace:w:daily:1'];

const requested: fc.Arbitrary<Requested> = fc.record({
  subjects: fc.subarray([0, 1, 2], { minLength: 1 }),
  want: fc.integer({ min: 0, max: 80 }),
  min: fc.integer({ min: 0, max: 20 }),
  outcome: fc.constantFrom('settled', 'settled', 'settled twice', 'released', 'crashed before', 'crashed after'),
  quarters: fc.integer({ min: 0, max: 4 }),
  growths: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
  forgets: fc.boolean(),
  turns: fc.array(fc.nat({ max: 12 }), { minLength: 6, maxLength: 6 }),
});

function testAnyOrder(open: OpenReservations): void {
  test('keeps limits in any order, leaks nothing, and counts a charge once', async (t) => {
    const spentLifeMs = 5_000;
    const { reservations, pause, pass, isTimeFree, runs } = await open(t, { spentLifeMs });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(requested, { minLength: 2, maxLength: 14 }),
        fc.boolean(),
        async (requests, mayCrash) => {
          const names = NAMES.map((name) => `${name}:${run}`);
          const budgetReservation = new Simulation(reservations, pause, names, `${run++}`);
          await Promise.all(
            requests.map((request, index) => budgetReservation.serve(request, index, mayCrash && isTimeFree)),
          );
          if (budgetReservation.hasCrashed) await pass(budgetReservation.reservationMs + 1);
          await budgetReservation.close();
        },
      ),
      { numRuns: runs },
    );
  });
}

interface Reserving {
  readonly id: string;
  readonly reserved: readonly { readonly at: number; readonly nanoUsd: number }[];
}

/** Plays the database and the callers, with the true amounts. */
class Simulation {
  readonly reservationMs = 20_000;
  hasCrashed = false;
  readonly #reservations: Reservations;
  readonly #pause: TestedReservations['pause'];
  readonly #names: readonly string[];
  readonly #run: string;
  readonly #durable: number[] = [0, 0, 0];
  /** Amounts of reservations whose charge is not durable. */
  readonly #atRisk: number[] = [0, 0, 0];

  constructor(reservations: Reservations, pause: TestedReservations['pause'], names: readonly string[], run: string) {
    this.#reservations = reservations;
    this.#pause = pause;
    this.#names = names;
    this.#run = run;
  }

  async serve(request: Requested, index: number, mayCrash: boolean): Promise<void> {
    const { subjects, want, min, outcome, quarters, growths, forgets, turns } = request;
    const [start = 0, before = 0, after = 0, work = 0, gap = 0, again = 0] = turns;
    const firstId = `${this.#run}-${index}`;
    const least = Math.min(min, want);
    await this.#pause(start);
    if (forgets) await Promise.all([this.#reservations.forget('key:a'), this.#reservations.forget('workspace:w')]);
    const answer = await this.#reservations.reserve(
      {
        id: firstId,
        expiresInMs: this.reservationMs,
        allowances: subjects.map((at) => ({
          subject: this.#names[at] ?? '',
          limitNanoUsd: LIMITS[at] ?? 0,
          wantNanoUsd: want,
          minNanoUsd: least,
        })),
      },
      this.#load(before, after),
    );
    if (!answer.ok) return;
    const first = subjects.map((at) => ({ at, nanoUsd: answer.reservedNanoUsd.get(this.#names[at] ?? '') ?? -1 }));
    for (const { at, nanoUsd } of first) {
      assert.ok(nanoUsd >= least && nanoUsd <= want, 'a hold takes what it was asked to take');
      this.#risk(at, nanoUsd);
    }
    await this.#pause(work);
    const { id, reserved } = await this.#goOn({ id: firstId, reserved: first }, growths, turns);
    if (outcome === 'released') {
      for (const { at, nanoUsd } of reserved) this.#add(this.#atRisk, at, -nanoUsd);
      await this.#reservations.release(id);
      return;
    }
    this.hasCrashed ||= mayCrash && outcome.startsWith('crashed');
    if (outcome === 'crashed before' && mayCrash) return;
    const charges = reserved.map(({ at, nanoUsd }) => {
      const charged = Math.floor((nanoUsd * quarters) / 4);
      this.#add(this.#atRisk, at, -nanoUsd);
      this.#add(this.#durable, at, charged);
      return { subject: this.#names[at] ?? '', nanoUsd: charged };
    });
    if (outcome === 'crashed after' && mayCrash) return;
    await this.#pause(gap);
    await this.#reservations.settle(id, charges);
    if (outcome !== 'settled twice') return;
    await this.#pause(again);
    await this.#reservations.settle(id, charges);
  }

  /** Replaces the reservation by a larger one, or keeps it. */
  async #goOn(begun: Reserving, growths: readonly number[], [before = 0, after = 0, work = 0]: readonly number[]) {
    let current = begun;
    for (const [step, growth] of growths.entries()) {
      const { reserved } = current;
      const id = `${begun.id}-${step}`;
      const allowances = reserved.map(({ at, nanoUsd }) => ({
        subject: this.#names[at] ?? '',
        limitNanoUsd: LIMITS[at] ?? 0,
        wantNanoUsd: nanoUsd + growth,
        minNanoUsd: nanoUsd,
      }));
      const request = { id, expiresInMs: this.reservationMs, allowances, instead: [current.id] };
      const answer = await this.#reservations.reserve(request, this.#load(before, after));
      // A charge of another process that is durable and not settled counts beside its reservation for a moment.
      if (!answer.ok) break;
      const grown = reserved.map(({ at, nanoUsd }) => {
        const taken = answer.reservedNanoUsd.get(this.#names[at] ?? '') ?? -1;
        assert.ok(taken >= nanoUsd && taken <= nanoUsd + growth);
        this.#risk(at, taken - nanoUsd);
        return { at, nanoUsd: taken };
      });
      await this.#reservations.release(current.id);
      current = { id, reserved: grown };
      await this.#pause(work);
    }
    return current;
  }

  #risk(at: number, nanoUsd: number): void {
    this.#add(this.#atRisk, at, nanoUsd);
    const total = (this.#durable[at] ?? 0) + (this.#atRisk[at] ?? 0);
    assert.ok(total <= (LIMITS[at] ?? 0), `${total} of ${LIMITS[at]} is spent or held`);
  }

  /** Checks that everything that is left can be reserved, and nothing more. */
  async close(): Promise<void> {
    for (const [at, subject] of this.#names.entries()) {
      const limitNanoUsd = LIMITS[at] ?? 0;
      const left = limitNanoUsd - (this.#durable[at] ?? 0);
      const all = (id: string, nanoUsd: number) =>
        this.#reservations.reserve(
          {
            id: `${this.#run}-${id}-${at}`,
            expiresInMs: this.reservationMs,
            allowances: [{ subject, limitNanoUsd, wantNanoUsd: nanoUsd, minNanoUsd: nanoUsd }],
          },
          this.#load(0, 0),
        );
      assert.deepEqual(await all('more', left + 1), {
        ok: false,
        subject,
        leftNanoUsd: left,
        reservedByOthersNanoUsd: 0,
      });
      assert.equal((await all('rest', left)).ok, true);
    }
  }

  #load(before: number, after: number): LoadSpent {
    return async (subject) => {
      await this.#pause(before);
      const sum = this.#durable[this.#names.indexOf(subject)] ?? 0;
      await this.#pause(after);
      return sum;
    };
  }

  #add(sums: number[], at: number, nanoUsd: number): void {
    sums[at] = (sums[at] ?? 0) + nanoUsd;
  }
}

suite('reservations in memory', () => {
  testReservations((_t, options) => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    return Promise.resolve({
      reservations: createMemoryReservations({ clock, ...options }),
      isTimeFree: true,
      runs: 400,
      pass(ms: number) {
        nowMs += ms;
        return Promise.resolve();
      },
      async pause(turns: number) {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      },
    });
  });
});

/** Opens so many workers of one first process, whose clock stands still but for `pass`. */
function openWorkers(count: number): OpenReservations {
  return async (t, options) => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const reservations = createMemoryReservations({ clock, ...options });
    const { workers } = await openLocalState(t, count, { clock, reservations });
    return {
      reservations: inTurn(workers.map((worker) => worker.reservations)),
      isTimeFree: true,
      runs: 100,
      pass(ms: number) {
        nowMs += ms;
        return Promise.resolve();
      },
      async pause(turns: number) {
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      },
    };
  };
}

suite('reservations of one worker over the local socket', () => {
  testReservations(openWorkers(1));
});

suite('reservations of three workers over the local socket', () => {
  testAnyOrder(openWorkers(3));
});

/**
 * Opens so many processes that share a Redis, with long limits: a slow test machine must not look like a dead Redis.
 */
function openProcesses(count: number): OpenReservations {
  return async (t, { spentLifeMs = 60_000 } = {}) => {
    const { url, prefix } = useRedis(t);
    const processes = await Promise.all(
      Array.from({ length: count }, async () => {
        const link = await createRedisLink({ url, prefix, callMs: 10_000 });
        t.after(() => link.close());
        await link.open();
        return withoutFallback(
          new RedisReservations({ link, prefix, rateLimitState: openRateLimits(link, prefix), spentLifeMs }),
        );
      }),
    );
    return {
      reservations: inTurn(processes),
      isTimeFree: false,
      runs: 30,
      pass: (ms) => wait(ms),
      pause: (turns) => (turns === 0 ? Promise.resolve() : wait(turns / 2)),
    };
  };
}

suite('reservations in Redis', { skip: redis === undefined }, () => {
  testReservations(openProcesses(1));
});

suite('reservations of three processes in Redis', { skip: redis === undefined }, () => {
  testAnyOrder(openProcesses(3));
});

/** Serves each request by the next process, from its first to its last step. */
function inTurn(processes: readonly Reservations[]): Reservations {
  let turn = 0;
  const serving = new Map<string, Reservations>();
  const next = (): Reservations => {
    const found = processes[turn++ % processes.length];
    assert.ok(found !== undefined);
    return found;
  };
  const of = (id: string): Reservations => serving.get(id) ?? next();
  return {
    reserve(request, loadSpent) {
      const reservations = of(request.id);
      serving.set(request.id, reservations);
      return reservations.reserve(request, loadSpent);
    },
    check: (allowances, loadSpent) => next().check(allowances, loadSpent),
    settle: (id, charges) => of(id).settle(id, charges),
    release: (id) => of(id).release(id),
    forget: (owner) => next().forget(owner),
  };
}

/** Uses the shared reservations as a process does, which knows its own. */
function withoutFallback(shared: RedisReservations): Reservations {
  const reserved = new Map<string, readonly string[]>();
  return {
    async reserve(request, loadSpent) {
      reserved.set(request.id, [...new Set(request.allowances.map(({ subject }) => subject))]);
      return shared.reserve(request, loadSpent);
    },
    check: (allowances, loadSpent) => shared.check(allowances, loadSpent),
    settle: (id, charges) => shared.finish(id, endedBy(reserved.get(id) ?? [], charges)),
    release: (id) => shared.finish(id, endedBy(reserved.get(id) ?? [], [])),
    forget: (owner) => shared.forget(owner),
  };
}
