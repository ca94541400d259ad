import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import type { Allowance, Holds, LoadSpent } from './contract.ts';
import { HoldsBusy } from './holds-busy.ts';
import { createMemoryHolds } from './memory-holds.ts';
import { endedBy, RedisHolds } from './redis-holds.ts';
import { createRedisLink } from './redis-link.ts';
import { openGate } from './test-gate.ts';
import { redis, useRedis } from './test-redis.ts';

/** Holds as a test gets them: nobody else uses them. */
interface TestedHolds {
  readonly holds: Holds;
  /** Lets so much time go by for the holds. */
  readonly pass: (ms: number) => Promise<void>;
  /** Gives others their turn, a random while that the number decides. */
  readonly pause: (turns: number) => Promise<void>;
  /** Whether `pass` costs no time. */
  readonly isTimeFree: boolean;
}

interface OpenOptions {
  /** How long a sum that was read counts. */
  readonly spentLifeMs?: number;
}

type OpenHolds = (t: TestContext, options?: OpenOptions) => Promise<TestedHolds>;

const LONG_MS = 600_000;
const S = 'key:a:ever:0';

function allow(limitNanoUsd: number, wantNanoUsd: number, minNanoUsd = wantNanoUsd, subject = S): Allowance {
  return { subject, limitNanoUsd, wantNanoUsd, minNanoUsd };
}

function hold(id: string, ...allowances: readonly Allowance[]) {
  return { id, expiresInMs: LONG_MS, allowances };
}

const nothingSpent: LoadSpent = () => Promise.resolve(0);

/** What must be true of holds wherever they are kept. */
function testHolds(open: OpenHolds): void {
  test('what is held is left to nobody else', async (t) => {
    const { holds } = await open(t);
    assert.deepEqual(await holds.reserve(hold('1', allow(100, 60)), nothingSpent), {
      ok: true,
      heldNanoUsd: new Map([[S, 60]]),
    });
    assert.deepEqual(await holds.reserve(hold('2', allow(100, 60)), nothingSpent), {
      ok: false,
      subject: S,
      leftNanoUsd: 40,
      heldByOthersNanoUsd: 60,
    });
    await holds.release('1');
    assert.equal((await holds.reserve(hold('2', allow(100, 60)), nothingSpent)).ok, true);
  });

  test('whether anything is left is told without a hold, and whatever is held', async (t) => {
    const { holds } = await open(t);
    let durable = 99;
    const load: LoadSpent = () => Promise.resolve(durable);
    assert.equal((await holds.reserve(hold('1', allow(100, 1)), load)).ok, true);
    assert.deepEqual(await holds.check([allow(100, 1)], load), { ok: true, heldNanoUsd: new Map([[S, 1]]) });
    assert.equal((await holds.reserve(hold('2', allow(100, 1)), load)).ok, false, 'the only one is held');
    durable = 100;
    await holds.settle('1', [{ subject: S, nanoUsd: 1 }]);
    assert.deepEqual(await holds.check([allow(100, 1)], load), {
      ok: false,
      subject: S,
      leftNanoUsd: 0,
      heldByOthersNanoUsd: 0,
    });
  });

  test('a hold takes the lesser of what is wanted and what is left', async (t) => {
    const { holds } = await open(t);
    const first = await holds.reserve(hold('1', allow(100, 60)), nothingSpent);
    const second = await holds.reserve(hold('2', allow(100, 60, 1)), nothingSpent);
    const third = await holds.reserve(hold('3', allow(100, 60, 1)), nothingSpent);
    assert.deepEqual(
      [first, second].map((answer) => answer.ok && answer.heldNanoUsd.get(S)),
      [60, 40],
    );
    assert.equal(third.ok, false);
  });

  test('a hold that takes the place of others has what they held', async (t) => {
    const { holds } = await open(t);
    await holds.reserve(hold('1', allow(100, 60)), nothingSpent);
    await holds.reserve(hold('2', allow(100, 20)), nothingSpent);
    await holds.reserve(hold('3', allow(100, 15)), nothingSpent);
    const moved = await holds.reserve({ ...hold('4', allow(100, 85)), instead: ['1', '2', 'none'] }, nothingSpent);
    assert.deepEqual(moved, { ok: true, heldNanoUsd: new Map([[S, 85]]) });
    await holds.release('1');
    await holds.release('2');
    assert.equal((await holds.reserve(hold('5', allow(100, 1)), nothingSpent)).ok, false, 'all of it is held');
    await holds.settle('4', [{ subject: S, nanoUsd: 30 }]);
    assert.equal((await holds.reserve(hold('6', allow(100, 55)), nothingSpent)).ok, true);
  });

  test('where too little is left for a hold in the place of another, that one stays', async (t) => {
    const { holds } = await open(t);
    await holds.reserve(hold('1', allow(100, 60)), nothingSpent);
    await holds.reserve(hold('2', allow(100, 30)), nothingSpent);
    assert.deepEqual(await holds.reserve({ ...hold('3', allow(100, 80)), instead: ['1'] }, nothingSpent), {
      ok: false,
      subject: S,
      leftNanoUsd: 70,
      heldByOthersNanoUsd: 30,
    });
    assert.equal((await holds.reserve(hold('4', allow(100, 11)), nothingSpent)).ok, false);
    await holds.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await holds.reserve(hold('4', allow(100, 60)), nothingSpent)).ok, true);
  });

  test('beyond a limit nothing is held, not even nothing', async (t) => {
    const { holds } = await open(t);
    const answer = await holds.reserve(hold('1', allow(100, 0)), () => Promise.resolve(101));
    assert.deepEqual(answer, { ok: false, subject: S, leftNanoUsd: -1, heldByOthersNanoUsd: 0 });
  });

  test('of what is asked at once each is answered by itself', async (t) => {
    const { holds } = await open(t);
    const other = 'key:b:ever:0';
    await holds.reserve(hold('0', allow(100, 50), allow(100, 50, 50, other)), nothingSpent);
    const answers = await Promise.all([
      holds.reserve(hold('1', allow(100, 60)), noLoad),
      holds.reserve(hold('2', allow(100, 40, 40, other)), noLoad),
      holds.check([allow(100, 101, 101, other)], noLoad),
      holds.reserve(hold('3', allow(100, 40)), noLoad),
      holds.settle('0', [{ subject: other, nanoUsd: 5 }]),
      holds.reserve(hold('4', allow(100, 55, 55, other), allow(100, 60)), noLoad),
    ]);
    assert.deepEqual(
      answers.map((answer) => answer && answer.ok),
      [false, true, false, true, undefined, true],
    );
    assert.equal((await holds.reserve(hold('5', allow(100, 1)), noLoad)).ok, false);
    assert.equal((await holds.reserve(hold('6', allow(100, 1, 1, other)), noLoad)).ok, false);
  });

  test('a hold takes from all its subjects or from none', async (t) => {
    const { holds } = await open(t);
    const other = 'workspace:b:daily:5';
    const refused = await holds.reserve(hold('1', allow(100, 50), allow(20, 50, 50, other)), nothingSpent);
    assert.deepEqual(refused, { ok: false, subject: other, leftNanoUsd: 20, heldByOthersNanoUsd: 0 });
    assert.equal((await holds.reserve(hold('2', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('of two limits of one subject the lower counts, and the subject is charged once', async (t) => {
    const { holds } = await open(t);
    const both = hold('1', allow(100, 50), allow(70, 50));
    assert.deepEqual(await holds.reserve(both, nothingSpent), { ok: true, heldNanoUsd: new Map([[S, 50]]) });
    assert.equal((await holds.reserve(hold('2', allow(100, 30), allow(70, 30)), nothingSpent)).ok, false);
    assert.equal((await holds.reserve(hold('3', allow(100, 30)), nothingSpent)).ok, true);
  });

  test('a second request with one id gets the hold that there is', async (t) => {
    const { holds } = await open(t);
    await holds.reserve(hold('1', allow(100, 60)), nothingSpent);
    assert.deepEqual(await holds.reserve(hold('1', allow(100, 60)), nothingSpent), {
      ok: true,
      heldNanoUsd: new Map([[S, 60]]),
    });
    assert.equal((await holds.reserve(hold('2', allow(100, 40)), nothingSpent)).ok, true);
  });

  test('a settled charge is spent, and the rest of its hold is free', async (t) => {
    const { holds } = await open(t);
    await holds.reserve(hold('1', allow(100, 60)), nothingSpent);
    await holds.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await holds.reserve(hold('2', allow(100, 91)), noLoad)).ok, false);
    assert.equal((await holds.reserve(hold('3', allow(100, 90)), noLoad)).ok, true);
  });

  test('a charge that is settled twice counts once', async (t) => {
    const { holds } = await open(t);
    let durable = 0;
    const load: LoadSpent = () => Promise.resolve(durable);
    await holds.reserve(hold('1', allow(100, 60)), load);
    durable = 10;
    await holds.settle('1', [{ subject: S, nanoUsd: 10 }]);
    await holds.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await holds.reserve(hold('2', allow(100, 90)), load)).ok, true);
  });

  test('a charge whose hold has ended counts once', async (t) => {
    const { holds, pass } = await open(t);
    let durable = 0;
    const load: LoadSpent = () => Promise.resolve(durable);
    await holds.reserve({ id: '1', expiresInMs: 1_000, allowances: [allow(100, 60)] }, load);
    await pass(1_050);
    durable = 10;
    await holds.settle('1', [{ subject: S, nanoUsd: 10 }]);
    assert.equal((await holds.reserve(hold('2', allow(100, 91)), load)).ok, false);
    assert.equal((await holds.reserve(hold('3', allow(100, 90)), load)).ok, true);
  });

  test('a hold that nobody ends ends by itself', async (t) => {
    const { holds, pass } = await open(t);
    await holds.reserve({ id: '1', expiresInMs: 1_000, allowances: [allow(100, 100)] }, nothingSpent);
    assert.equal((await holds.reserve(hold('2', allow(100, 100)), nothingSpent)).ok, false);
    await pass(1_050);
    assert.equal((await holds.reserve(hold('3', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('a sum is read once while it counts, and again when its time is over', async (t) => {
    const { holds, pass } = await open(t, { spentLifeMs: 1_000 });
    let reads = 0;
    const load: LoadSpent = () => Promise.resolve(++reads);
    for (const id of ['1', '2', '3']) await holds.reserve(hold(id, allow(100, 1)), load);
    assert.equal(reads, 1);
    await pass(1_050);
    await holds.reserve(hold('4', allow(100, 1)), load);
    assert.equal(reads, 2);
  });

  test('requests at once share one read', async (t) => {
    const { holds, pause } = await open(t);
    let reads = 0;
    const load: LoadSpent = async () => {
      await pause(20);
      return ++reads;
    };
    const ids = Array.from({ length: 50 }, (_, index) => `${index}`);
    await Promise.all(ids.map((id) => holds.reserve(hold(id, allow(1_000, 1)), load)));
    assert.equal(reads, 1);
  });

  test('what an owner spent is read again after it is to be forgotten, and what others spent is not', async (t) => {
    const { holds } = await open(t);
    const reads: string[] = [];
    const load: LoadSpent = (subject) => {
      reads.push(subject);
      return Promise.resolve(0);
    };
    const daily = 'key:a:daily:5';
    const longer = 'key:ab:daily:5';
    const all = (id: string) => hold(id, allow(9, 1), allow(9, 1, 1, daily), allow(9, 1, 1, longer));
    await holds.reserve(all('1'), load);
    await holds.forget('key:a');
    await holds.reserve(all('2'), load);
    assert.deepEqual(reads, [S, daily, longer, S, daily]);
  });

  test('a sum that was being read when it was to be forgotten is read again', async (t) => {
    const { holds } = await open(t);
    const read = Promise.withResolvers<number>();
    const begun = Promise.withResolvers<void>();
    let reads = 0;
    const answer = holds.reserve(hold('1', allow(100, 100)), () => {
      begun.resolve();
      return ++reads === 1 ? read.promise : Promise.resolve(0);
    });
    await begun.promise;
    await holds.forget('key:a');
    read.resolve(50);
    assert.equal((await answer).ok, true);
  });

  test('to be forgotten frees no hold', async (t) => {
    const { holds } = await open(t);
    await holds.reserve(hold('1', allow(100, 60)), nothingSpent);
    await holds.forget('key:a');
    assert.equal((await holds.reserve(hold('2', allow(100, 60)), nothingSpent)).ok, false);
    await holds.release('1');
    assert.equal((await holds.reserve(hold('3', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('a sum that was read before a charge was settled is not counted after it', async (t) => {
    const { holds } = await open(t);
    let durable = 0;
    await holds.reserve(hold('1', allow(100, 60)), () => Promise.resolve(durable));
    await holds.forget('key:a');
    const read = Promise.withResolvers<number>();
    const begun = Promise.withResolvers<void>();
    let reads = 0;
    const second = holds.reserve(hold('2', allow(100, 95)), () => {
      begun.resolve();
      return ++reads === 1 ? read.promise : Promise.resolve(durable);
    });
    await begun.promise;
    durable = 10;
    await holds.settle('1', [{ subject: S, nanoUsd: 10 }]);
    read.resolve(0);
    assert.deepEqual(await second, { ok: false, subject: S, leftNanoUsd: 90, heldByOthersNanoUsd: 0 });
  });

  test('a sum that was read after a charge was durable and before it was settled counts it once', async (t) => {
    const { holds } = await open(t);
    let durable = 0;
    const load: LoadSpent = () => Promise.resolve(durable);
    await holds.reserve(hold('1', allow(100, 60)), load);
    durable = 60;
    await holds.forget('key:a');
    assert.equal((await holds.reserve(hold('2', allow(200, 1)), load)).ok, true);
    await holds.settle('1', [{ subject: S, nanoUsd: 60 }]);
    assert.equal((await holds.reserve(hold('3', allow(100, 39)), load)).ok, true);
  });

  test('however many wait for a sum while charges are settled, each is told whether it may', async (t) => {
    const { holds, pause } = await open(t);
    let durable = 100;
    let next = 0;
    const running = Array.from({ length: 40 }, (_, index) => `running ${index}`);
    for (const id of running) await holds.reserve(hold(id, allow(1_000, 1)), () => Promise.resolve(durable));
    await holds.forget('key:a');
    // Of every sum that is read nobody knows whether it holds the charge that is settled meanwhile.
    const load: LoadSpent = async () => {
      await pause(2);
      durable++;
      await holds.settle(running[next++] ?? '', [{ subject: S, nanoUsd: 1 }]);
      return durable;
    };
    const ids = Array.from({ length: 16 }, (_, index) => `waiting ${index}`);
    const answers = await Promise.all(ids.map((id) => holds.reserve(hold(id, allow(141, 50)), load)));
    assert.deepEqual(
      answers.map(({ ok }) => ok),
      ids.map(() => false),
    );
    assert.ok(next < 8, `they share what is read: ${next} reads`);
  });

  test('while every sum is outdated before it is read, whoever asks is told to come again', async (t) => {
    const { holds } = await open(t);
    const load: LoadSpent = async () => {
      await holds.forget('key:a');
      return 0;
    };
    await assert.rejects(holds.reserve(hold('1', allow(100, 1)), load), HoldsBusy);
  });

  test('a sum that cannot be read fails the request, holds nothing, and is tried again by the next', async (t) => {
    const { holds } = await open(t);
    const broken = (): Promise<number> => Promise.reject(new Error('the database is away'));
    await assert.rejects(holds.reserve(hold('1', allow(100, 60)), broken), /the database is away/);
    assert.equal((await holds.reserve(hold('2', allow(100, 100)), nothingSpent)).ok, true);
  });

  test('sums up to 2^53 are exact', async (t) => {
    const { holds } = await open(t);
    const limit = Number.MAX_SAFE_INTEGER;
    const spent: LoadSpent = () => Promise.resolve(limit - 3);
    assert.deepEqual(await holds.reserve(hold('1', allow(limit, 4)), spent), {
      ok: false,
      subject: S,
      leftNanoUsd: 3,
      heldByOthersNanoUsd: 0,
    });
    await holds.reserve(hold('2', allow(limit, 2)), spent);
    await holds.settle('2', [{ subject: S, nanoUsd: 2 }]);
    const rest = await holds.reserve(hold('3', allow(limit, 2, 1)), noLoad);
    assert.equal(rest.ok && rest.heldNanoUsd.get(S), 1);
  });

  test('what is held, left and spent is told to its last digit', async (t) => {
    const { holds } = await open(t);
    const limit = Number.MAX_SAFE_INTEGER;
    const [spent, held, charge] = [1_234_567_890_123_457, 2_345_678_901_234_567, 1_111_111_111_111_111];
    const load: LoadSpent = () => Promise.resolve(spent);
    const first = await holds.reserve(hold('1', allow(limit, held)), load);
    assert.equal(first.ok && first.heldNanoUsd.get(S), held);
    const again = await holds.reserve(hold('1', allow(limit, held)), load);
    assert.equal(again.ok && again.heldNanoUsd.get(S), held);
    const tooMuch = allow(limit, limit);
    const left = limit - spent - held;
    const refusal = { ok: false, subject: S, leftNanoUsd: left, heldByOthersNanoUsd: held };
    assert.deepEqual(await holds.reserve(hold('2', tooMuch), noLoad), refusal);
    await holds.settle('1', [{ subject: S, nanoUsd: charge }]);
    const rest = await holds.reserve(hold('3', allow(limit, limit, 1)), noLoad);
    assert.equal(rest.ok && rest.heldNanoUsd.get(S), limit - spent - charge);
    await holds.release('3');
    await holds.forget(S.split(':').slice(0, 2).join(':'));
    const durable = await holds.reserve(hold('4', tooMuch), () => Promise.resolve(spent + charge));
    assert.deepEqual(durable, { ...refusal, leftNanoUsd: limit - spent - charge, heldByOthersNanoUsd: 0 });
  });

  testAnyOrder(open);
}

const noLoad: LoadSpent = (subject) => Promise.reject(new Error(`${subject} is known`));

/** One request of the property below. Numbers of turns say how long its steps take. */
interface Asked {
  readonly subjects: readonly number[];
  readonly want: number;
  readonly min: number;
  readonly outcome: 'settled' | 'settled twice' | 'released' | 'crashed before' | 'crashed after';
  /** How much of the hold is charged, in quarters. */
  readonly quarters: number;
  /** By how much more its hold is to be, each time that it goes on. */
  readonly growths: readonly number[];
  /** Whether sums are read again before it. */
  readonly forgets: boolean;
  readonly turns: readonly number[];
}

const LIMITS = [120, 200, 300];
const NAMES = ['key:a:daily:1', 'key:a:ever:0', 'workspace:w:daily:1'];

const asked: fc.Arbitrary<Asked> = fc.record({
  subjects: fc.subarray([0, 1, 2], { minLength: 1 }),
  want: fc.integer({ min: 0, max: 80 }),
  min: fc.integer({ min: 0, max: 20 }),
  outcome: fc.constantFrom('settled', 'settled', 'settled twice', 'released', 'crashed before', 'crashed after'),
  quarters: fc.integer({ min: 0, max: 4 }),
  growths: fc.array(fc.nat({ max: 30 }), { maxLength: 3 }),
  forgets: fc.boolean(),
  turns: fc.array(fc.nat({ max: 12 }), { minLength: 6, maxLength: 6 }),
});

function testAnyOrder(open: OpenHolds): void {
  test('whatever the order, limits are kept, nothing leaks, and a charge counts once', async (t) => {
    const spentLifeMs = 5_000;
    const { holds, pause, pass, isTimeFree } = await open(t, { spentLifeMs });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 2, maxLength: 14 }), fc.boolean(), async (requests, mayCrash) => {
        const names = NAMES.map((name) => `${name}:${run}`);
        const till = new Till(holds, pause, names, `${run++}`);
        await Promise.all(requests.map((request, index) => till.serve(request, index, mayCrash && isTimeFree)));
        if (till.hasCrashed) await pass(till.holdMs + 1);
        await till.close();
      }),
      { numRuns: isTimeFree ? 400 : 30 },
    );
  });
}

interface Holding {
  readonly id: string;
  readonly held: readonly { readonly at: number; readonly nanoUsd: number }[];
}

/** Plays the database and the callers, and knows what is true. */
class Till {
  readonly holdMs = 20_000;
  hasCrashed = false;
  readonly #holds: Holds;
  readonly #pause: TestedHolds['pause'];
  readonly #names: readonly string[];
  readonly #run: string;
  readonly #durable: number[] = [0, 0, 0];
  /** Of holds whose charge is not durable. */
  readonly #atRisk: number[] = [0, 0, 0];

  constructor(holds: Holds, pause: TestedHolds['pause'], names: readonly string[], run: string) {
    this.#holds = holds;
    this.#pause = pause;
    this.#names = names;
    this.#run = run;
  }

  async serve(request: Asked, index: number, mayCrash: boolean): Promise<void> {
    const { subjects, want, min, outcome, quarters, growths, forgets, turns } = request;
    const [start = 0, before = 0, after = 0, work = 0, gap = 0, again = 0] = turns;
    const firstId = `${this.#run}-${index}`;
    const least = Math.min(min, want);
    await this.#pause(start);
    if (forgets) await Promise.all([this.#holds.forget('key:a'), this.#holds.forget('workspace:w')]);
    const answer = await this.#holds.reserve(
      {
        id: firstId,
        expiresInMs: this.holdMs,
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
    const first = subjects.map((at) => ({ at, nanoUsd: answer.heldNanoUsd.get(this.#names[at] ?? '') ?? -1 }));
    for (const { at, nanoUsd } of first) {
      assert.ok(nanoUsd >= least && nanoUsd <= want, 'a hold takes what it was asked to take');
      this.#risk(at, nanoUsd);
    }
    await this.#pause(work);
    const { id, held } = await this.#goOn({ id: firstId, held: first }, growths, turns);
    if (outcome === 'released') {
      for (const { at, nanoUsd } of held) this.#add(this.#atRisk, at, -nanoUsd);
      await this.#holds.release(id);
      return;
    }
    this.hasCrashed ||= mayCrash && outcome.startsWith('crashed');
    if (outcome === 'crashed before' && mayCrash) return;
    const charges = held.map(({ at, nanoUsd }) => {
      const charged = Math.floor((nanoUsd * quarters) / 4);
      this.#add(this.#atRisk, at, -nanoUsd);
      this.#add(this.#durable, at, charged);
      return { subject: this.#names[at] ?? '', nanoUsd: charged };
    });
    if (outcome === 'crashed after' && mayCrash) return;
    await this.#pause(gap);
    await this.#holds.settle(id, charges);
    if (outcome !== 'settled twice') return;
    await this.#pause(again);
    await this.#holds.settle(id, charges);
  }

  /** A hold takes the place of the one before, or that one stays. */
  async #goOn(begun: Holding, growths: readonly number[], [before = 0, after = 0, work = 0]: readonly number[]) {
    let current = begun;
    for (const [step, growth] of growths.entries()) {
      const { held } = current;
      const id = `${begun.id}-${step}`;
      const allowances = held.map(({ at, nanoUsd }) => ({
        subject: this.#names[at] ?? '',
        limitNanoUsd: LIMITS[at] ?? 0,
        wantNanoUsd: nanoUsd + growth,
        minNanoUsd: nanoUsd,
      }));
      const request = { id, expiresInMs: this.holdMs, allowances, instead: [current.id] };
      const answer = await this.#holds.reserve(request, this.#load(before, after));
      // A charge of another process that is durable and not settled counts beside its hold for a moment.
      if (!answer.ok) break;
      const grown = held.map(({ at, nanoUsd }) => {
        const taken = answer.heldNanoUsd.get(this.#names[at] ?? '') ?? -1;
        assert.ok(taken >= nanoUsd && taken <= nanoUsd + growth);
        this.#risk(at, taken - nanoUsd);
        return { at, nanoUsd: taken };
      });
      await this.#holds.release(current.id);
      current = { id, held: grown };
      await this.#pause(work);
    }
    return current;
  }

  #risk(at: number, nanoUsd: number): void {
    this.#add(this.#atRisk, at, nanoUsd);
    const total = (this.#durable[at] ?? 0) + (this.#atRisk[at] ?? 0);
    assert.ok(total <= (LIMITS[at] ?? 0), `${total} of ${LIMITS[at]} is spent or held`);
  }

  /** Everything that is left can be held, and not a bit more. */
  async close(): Promise<void> {
    for (const [at, subject] of this.#names.entries()) {
      const limitNanoUsd = LIMITS[at] ?? 0;
      const left = limitNanoUsd - (this.#durable[at] ?? 0);
      const all = (id: string, nanoUsd: number) =>
        this.#holds.reserve(
          {
            id: `${this.#run}-${id}-${at}`,
            expiresInMs: this.holdMs,
            allowances: [{ subject, limitNanoUsd, wantNanoUsd: nanoUsd, minNanoUsd: nanoUsd }],
          },
          this.#load(0, 0),
        );
      assert.deepEqual(await all('more', left + 1), { ok: false, subject, leftNanoUsd: left, heldByOthersNanoUsd: 0 });
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

suite('holds in memory', () => {
  testHolds((_t, options) => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    return Promise.resolve({
      holds: createMemoryHolds({ clock, ...options }),
      isTimeFree: true,
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

/** So many processes that share a Redis, which is given time: slow machines are no dead ones here. */
function openProcesses(count: number): OpenHolds {
  return async (t, { spentLifeMs = 60_000 } = {}) => {
    const { url, prefix } = useRedis(t);
    const processes = await Promise.all(
      Array.from({ length: count }, async () => {
        const link = await createRedisLink({ url, prefix, callMs: 10_000 });
        t.after(() => link.close());
        await link.open();
        return withoutFallback(new RedisHolds({ link, prefix, gate: openGate(link, prefix), spentLifeMs }));
      }),
    );
    return {
      holds: inTurn(processes),
      isTimeFree: false,
      pass: (ms) => wait(ms),
      pause: (turns) => (turns === 0 ? Promise.resolve() : wait(turns / 2)),
    };
  };
}

suite('holds in Redis', { skip: redis === undefined }, () => {
  testHolds(openProcesses(1));
});

suite('holds of three processes in Redis', { skip: redis === undefined }, () => {
  testAnyOrder(openProcesses(3));
});

/** Each request is served by the next process, from its first to its last step. */
function inTurn(processes: readonly Holds[]): Holds {
  let turn = 0;
  const serving = new Map<string, Holds>();
  const next = (): Holds => {
    const found = processes[turn++ % processes.length];
    assert.ok(found !== undefined);
    return found;
  };
  const of = (id: string): Holds => serving.get(id) ?? next();
  return {
    reserve(request, loadSpent) {
      const holds = of(request.id);
      serving.set(request.id, holds);
      return holds.reserve(request, loadSpent);
    },
    check: (allowances, loadSpent) => next().check(allowances, loadSpent),
    settle: (id, charges) => of(id).settle(id, charges),
    release: (id) => of(id).release(id),
    forget: (owner) => next().forget(owner),
  };
}

/** As a process uses them: it knows what it holds. */
function withoutFallback(shared: RedisHolds): Holds {
  const held = new Map<string, readonly string[]>();
  return {
    async reserve(request, loadSpent) {
      held.set(request.id, [...new Set(request.allowances.map(({ subject }) => subject))]);
      return shared.reserve(request, loadSpent);
    },
    check: (allowances, loadSpent) => shared.check(allowances, loadSpent),
    settle: (id, charges) => shared.finish(id, endedBy(held.get(id) ?? [], charges)),
    release: (id) => shared.finish(id, endedBy(held.get(id) ?? [], [])),
    forget: (owner) => shared.forget(owner),
  };
}
