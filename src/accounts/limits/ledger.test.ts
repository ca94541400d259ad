import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createMemoryReservations } from '../../state/memory/reservations.ts';
import { ReservationsBusy, type Reservations } from '../../state/contract.ts';
import { createLedger, roomOf, type Ledger, type LedgerDeps, type BudgetEstimate } from './ledger.ts';
import type { SpendLimit, Spent } from './spend-limit.ts';
import type { Principal } from '../principal.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';

const NOON_MS = Date.parse('2026-11-25T12:00:00Z');
const KEY: SpendLimit = { subject: 'key:a', kind: 'key', limitNanoUsd: 1_000, reset: null, includesByok: false };
const principal = samplePrincipal();
const NOTHING: Spent = { ownNanoUsd: 0, byokNanoUsd: 0 };

let nowMs = NOON_MS;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
let durable: Map<string, Spent>;
let failures: unknown[];

/** Makes a ledger that every request of a test uses with the same limits. */
function open(limits: readonly SpendLimit[], deps: Partial<LedgerDeps> = {}) {
  const ledger = createLedger({
    reservations: createMemoryReservations({ clock }),
    clock,
    readSpent: (subject, sinceMs) =>
      Promise.resolve(durable.get(`${subject}@${sinceMs}`) ?? { ownNanoUsd: 0, byokNanoUsd: 0 }),
    reservationMs: 60_000,
    onFailed: (error) => failures.push(error),
    ...deps,
  });
  return {
    ...ledger,
    admit: (who: Principal) => ledger.admit(who, limits),
    reserve: (who: Principal, wanted: () => BudgetEstimate) => ledger.reserve(who, limits, wanted),
  };
}

let ids = 0;
function estimate(nanoUsd: number, changes: Partial<BudgetEstimate> = {}): () => BudgetEstimate {
  return () => ({
    generationId: `gen-${++ids}`,
    worst: { ownNanoUsd: nanoUsd, byokNanoUsd: 0 },
    affordableTokens: (left) => Math.floor(left / 10),
    ...changes,
  });
}

function methodsOf(memory: Reservations): Reservations {
  return {
    reserve: (reservation, load) => memory.reserve(reservation, load),
    check: (allowances, load) => memory.check(allowances, load),
    settle: (id, charges) => memory.settle(id, charges),
    release: (id) => memory.release(id),
    forget: (owner) => memory.forget(owner),
  };
}

async function refusal(reserved: Promise<unknown> | undefined): Promise<GatewayError> {
  try {
    await reserved;
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
  return assert.fail('it was let through');
}

async function reservedBy(reserved: ReturnType<Ledger['reserve']>) {
  const reservation = await reserved;
  assert.ok(reservation !== undefined, 'a limit holds something');
  return reservation;
}

suite('the ledger', () => {
  beforeEach(() => {
    nowMs = NOON_MS;
    durable = new Map();
    failures = [];
  });

  test('moves the reservation of a request that goes on, over the end of a day too', async () => {
    const daily: SpendLimit = { ...KEY, reset: 'daily' };
    const ledger = open([KEY, daily], { reservationMs: 86_400_000 });
    const first = await reservedBy(ledger.reserve(principal, estimate(600)));
    nowMs += 12 * 3_600_000;
    const second = await reservedBy(ledger.reserve(principal, estimate(900, { instead: [first] })));
    await ledger.release(first);
    await refusal(ledger.reserve(principal, estimate(101)));
    await ledger.settle(second, { ownNanoUsd: 700, byokNanoUsd: 0 });
    await reservedBy(ledger.reserve(principal, estimate(300)));
    assert.deepEqual(failures, []);
  });

  test("refuses a caller with a used-up limit before anything else runs, and no caller because of others' reservations", async () => {
    const ledger = open([KEY]);
    const reservation = await reservedBy(ledger.reserve(principal, estimate(1_000)));
    await ledger.admit(principal);
    await ledger.settle(reservation, { ownNanoUsd: 999, byokNanoUsd: 0 });
    await ledger.admit(principal);
    await ledger.settle(await reservedBy(ledger.reserve(principal, estimate(1))), { ownNanoUsd: 1, byokNanoUsd: 0 });
    const error = await refusal(ledger.admit(principal));
    assert.deepEqual([error.status, error.retryAfterMs], [402, undefined]);
    assert.match(error.message, /^The API key has nothing left of its limit of .* USD\. Raise the limit\./);
    const owing = open([], { readBalance: () => Promise.resolve(-1) });
    assert.match((await refusal(owing.admit(principal))).message, /^The account owes .* Add credit\.$/);
    await open([], { readBalance: () => Promise.resolve(0) }).admit(principal);
  });

  test('checks for a rest without a read of sums that the later reservation does not need', async () => {
    let reads = 0;
    const ledger = open([KEY], {
      readSpent: () => {
        reads++;
        return Promise.resolve({ ownNanoUsd: 0, byokNanoUsd: 0 });
      },
    });
    await ledger.admit(principal);
    await ledger.reserve(principal, estimate(1));
    await ledger.admit(principal);
    assert.equal(reads, 1);
  });

  test('admits an unlimited caller at once, without an estimate of the cost', () => {
    assert.equal(open([]).admit(principal), undefined);
    assert.equal(
      open([]).reserve(principal, () => assert.fail('asked')),
      undefined,
    );
  });

  // @spec money-29
  test('admits no more concurrent requests than fit the limit at their worst cost', async () => {
    const ledger = open([KEY]);
    const all = await Promise.allSettled(
      Array.from({ length: 200 }, async () => ledger.reserve(principal, estimate(100))),
    );
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 10);
  });

  // @spec money-30
  test('frees what a request did not use', async () => {
    const ledger = open([KEY]);
    const reservation = await reservedBy(ledger.reserve(principal, estimate(1_000)));
    await refusal(ledger.reserve(principal, estimate(600)));
    await ledger.settle(reservation, { ownNanoUsd: 400, byokNanoUsd: 0 });
    await ledger.reserve(principal, estimate(600));
    assert.equal((await refusal(ledger.reserve(principal, estimate(1)))).status, 402);
  });

  // @spec money-24
  test('counts a repeated charge once', async () => {
    const ledger = open([KEY]);
    const reservation = await reservedBy(ledger.reserve(principal, estimate(500)));
    await Promise.all([1, 2, 3].map(() => ledger.settle(reservation, { ownNanoUsd: 500, byokNanoUsd: 0 })));
    await ledger.reserve(principal, estimate(500));
  });

  test('counts what is in the database', async () => {
    durable.set('key:a@0', { ownNanoUsd: 950, byokNanoUsd: 900 });
    const ledger = open([KEY]);
    const error = await refusal(ledger.reserve(principal, estimate(100)));
    assert.deepEqual([error.status, error.type, error.retryAfterMs], [402, 'payment_required', undefined]);
    assert.match(error.message, /has 0\.00000005 USD left of its limit of 0\.000001 USD/);
    assert.match(error.message, /Set max_tokens to 5 or less/);
    await ledger.reserve(principal, estimate(50));
  });

  // @spec error-12, money-28
  test('refuses even free requests at a used-up limit', async () => {
    durable.set('key:a@0', { ownNanoUsd: 1_000, byokNanoUsd: 0 });
    const error = await refusal(open([KEY]).reserve(principal, estimate(0)));
    assert.equal(error.status, 402);
    assert.match(error.message, /has nothing left/);
  });

  test('formats every digit of an amount in a refusal, small or large, and no other', async () => {
    durable.set('key:a@0', { ownNanoUsd: 1_234_567_890_123_456, byokNanoUsd: 0 });
    const limits = [{ ...KEY, limitNanoUsd: 8_765_432_109_876_543 }];
    const tooMuch = await refusal(open(limits).reserve(principal, estimate(8_765_432_109_876_541)));
    assert.match(tooMuch.message, /has 7530864\.219753087 USD left of its limit of 8765432\.109876543 USD\./);
    assert.match(tooMuch.message, /may cost up to 8765432\.109876541 USD\./);
    const small = await refusal(
      open([{ ...KEY, limitNanoUsd: 1_234_567_890_123_506 }]).reserve(principal, estimate(51)),
    );
    assert.match(small.message, /has 0\.00000005 USD left/);
  });

  test('admits a request without a bound on its response while anything is left', async () => {
    durable.set('key:a@0', { ownNanoUsd: 999, byokNanoUsd: 0 });
    const ledger = open([KEY]);
    const openEnded: Partial<BudgetEstimate> = { least: { ownNanoUsd: 1, byokNanoUsd: 0 }, leastTokens: 1 };
    const reservation = await reservedBy(ledger.reserve(principal, estimate(1_000_000, openEnded)));
    assert.deepEqual(roomOf(reservation, NOTHING), { ownNanoUsd: 1, byokNanoUsd: Infinity });
    const error = await refusal(ledger.reserve(principal, estimate(1_000_000, openEnded)));
    assert.match(
      error.message,
      /^The API key has 0\.000000001 USD left of its limit of 0\.000001 USD\. The request needs at least 0\.000000001 USD for its prompt, fees and 1 token of a response\. Requests under way hold 0\.000000001 USD of it\. Try again when they have ended\.$/,
    );
    assert.equal(error.retryAfterMs, 1_000);
  });

  // @spec money-32
  test("tells a caller to retry when others' reservations hold what is missing", async () => {
    const ledger = open([KEY]);
    await ledger.reserve(principal, estimate(900));
    const error = await refusal(ledger.reserve(principal, estimate(200)));
    assert.deepEqual([error.status, error.retryAfterMs], [402, 1_000]);
  });

  test('counts each window anew', async () => {
    const ledger = open([{ ...KEY, reset: 'daily' }]);
    durable.set(`key:a@${Date.parse('2026-11-25T00:00:00Z')}`, { ownNanoUsd: 1_000, byokNanoUsd: 0 });
    await refusal(ledger.reserve(principal, estimate(1)));
    nowMs += 12 * 3_600_000;
    await ledger.reserve(principal, estimate(1_000));
  });

  // @spec money-40
  test("counts calls with callers' credentials at list price where the limit says so", async () => {
    const ofCallers: Partial<BudgetEstimate> = { worst: { ownNanoUsd: 0, byokNanoUsd: 600 } };
    const without = open([KEY]);
    await without.reserve(principal, estimate(0, ofCallers));
    await without.reserve(principal, estimate(0, ofCallers));
    const including = open([{ ...KEY, includesByok: true }]);
    await including.reserve(principal, estimate(0, ofCallers));
    await refusal(including.reserve(principal, estimate(0, ofCallers)));
  });

  // @spec error-12, guardrail-11, money-27
  test('answers 403 for a used-up budget, and names the first limit in order', async () => {
    const workspace: SpendLimit = { ...KEY, subject: 'workspace:w', kind: 'workspace', reset: 'monthly' };
    const guardrail: SpendLimit = { ...KEY, subject: 'member:m', kind: 'guardrail', limitNanoUsd: 10 };
    const error = await refusal(open([KEY, workspace, guardrail]).reserve(principal, estimate(2_000)));
    assert.equal(error.status, 402);
    const budget = await refusal(open([workspace, guardrail]).reserve(principal, estimate(2_000)));
    assert.deepEqual([budget.status, budget.type], [403, 'permission_denied']);
    assert.match(budget.message, /^The workspace has .* monthly budget/);
    assert.match((await refusal(open([guardrail]).reserve(principal, estimate(2_000)))).message, /^A guardrail/);
  });

  // @spec money-41
  test('applies the lower of two limits that count the same, and counts a charge once', async () => {
    const guardrail: SpendLimit = { ...KEY, kind: 'guardrail', limitNanoUsd: 100 };
    const ledger = open([KEY, guardrail]);
    await ledger.settle(await reservedBy(ledger.reserve(principal, estimate(30))), { ownNanoUsd: 30, byokNanoUsd: 0 });
    await ledger.settle(await reservedBy(ledger.reserve(principal, estimate(60))), { ownNanoUsd: 60, byokNanoUsd: 0 });
    assert.equal((await refusal(ledger.reserve(principal, estimate(20)))).status, 403);
    const lower = await refusal(open([{ ...KEY, limitNanoUsd: 10 }, guardrail]).reserve(principal, estimate(20)));
    assert.equal(lower.status, 402, 'the one that is lower refuses');
  });

  // @spec money-28
  test('refuses an account with zero credit only what costs something', async () => {
    let balance = 0;
    const ledger = open([], { readBalance: () => Promise.resolve(balance) });
    await ledger.reserve(principal, estimate(0));
    const poor = await refusal(ledger.reserve(principal, estimate(1)));
    assert.equal(poor.status, 402);
    assert.match(poor.message, /Add credit/);
    balance = -5_000_000_000;
    const owing = open([], { readBalance: () => Promise.resolve(balance) });
    assert.match(
      (await refusal(owing.reserve(principal, estimate(0)))).message,
      /The account owes 5 USD\. Add credit\./,
    );
    balance = 700;
    const granted = open([], { readBalance: () => Promise.resolve(balance) });
    await granted.reserve(principal, estimate(600));
    await refusal(granted.reserve(principal, estimate(200)));
  });

  // @spec money-38
  test('answers 503 where spending cannot be read, and never a free pass', async () => {
    const error = await refusal(
      open([KEY], { readSpent: () => Promise.reject(new Error('away')) }).reserve(principal, estimate(1)),
    );
    assert.deepEqual([error.status, error.retryAfterMs], [503, 1_000]);
  });

  test('answers 503 for a state that can reserve nothing at the moment, and passes on a bug in it', async () => {
    const failing = (error: Error): Reservations => ({
      ...methodsOf(createMemoryReservations({ clock })),
      async reserve() {
        throw error;
      },
    });
    const busy = await refusal(
      open([KEY], { reservations: failing(new ReservationsBusy('Too many.')) }).reserve(principal, estimate(1)),
    );
    assert.deepEqual([busy.status, busy.retryAfterMs], [503, 1_000]);
    const bug = open([KEY], { reservations: failing(new Error('a bug')) }).reserve(principal, estimate(1));
    await assert.rejects(bug ?? Promise.resolve(), /^Error: a bug$/);
  });

  test('reports a state that does not take a charge, and delays no request', async () => {
    const memory = createMemoryReservations({ clock });
    const reservations: Reservations = { ...methodsOf(memory), settle: () => Promise.reject(new Error('away')) };
    const ledger = open([KEY], { reservations });
    await ledger.settle(await reservedBy(ledger.reserve(principal, estimate(1))), { ownNanoUsd: 1, byokNanoUsd: 0 });
    assert.equal(failures.length, 1);
  });
});
