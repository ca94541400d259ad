import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLedger } from '../../accounts/limits/ledger.ts';
import type { SpendLimit } from '../../accounts/limits/spend-limit.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import { createMemoryReservations } from '../../state/memory/reservations.ts';
import type { RouteEstimate } from '../billing/route-estimate.ts';
import { BudgetReservation } from './budget-reservation.ts';

const LIMIT: SpendLimit = { subject: 'key:a', kind: 'key', limitNanoUsd: 1_000, reset: null, includesByok: false };
const spend = (ownNanoUsd: number) => ({ ownNanoUsd, byokNanoUsd: 0 });
const clock = { nowMs: () => 0, monotonicMs: () => 0 };

const estimate = (nanoUsd: number): RouteEstimate => ({
  generationId: 'gen-1',
  worst: spend(nanoUsd),
  affordableTokens: () => 0,
  openEnded: {
    delivery: 'stream',
    leastTokens: 1,
    sliceNanoUsd: nanoUsd,
    tokensFor: ({ ownNanoUsd }) => ownNanoUsd,
    priceOf: () => ({ costOf: (tokens) => tokens, tokensFor: (money) => money }),
  },
});

/** A request on a limit of 1,000 of which nothing is spent. @param rateLimitState what every read of a sum waits for */
async function open(reserved: number, rateLimitState: () => Promise<void> = () => Promise.resolve()) {
  const reservations = createMemoryReservations({ clock });
  let beforeReserve = (): Promise<void> => Promise.resolve();
  const ledger = createLedger({
    reservations: {
      async reserve(...all) {
        await beforeReserve();
        return reservations.reserve(...all);
      },
      check: (...all) => reservations.check(...all),
      settle(id, charges) {
        settled.push(id);
        return reservations.settle(id, charges);
      },
      release: (...all) => reservations.release(...all),
      forget: (...all) => reservations.forget(...all),
    },
    clock,
    readSpent: () => Promise.resolve(spend(0)),
    reservationMs: 60_000,
    onFailed: (error) => assert.fail(String(error)),
  });
  const settled: string[] = [];
  const budgetReservation = new BudgetReservation(
    {
      ledger,
      rateLimiter: { admit: () => undefined, enter: () => undefined },
    },
    samplePrincipal(),
    { id: 'gen-1', requestId: 'gen-1' },
  );
  await budgetReservation.reserve([LIMIT], () => estimate(reserved), { promptTokens: () => 1, isFree: false });
  beforeReserve = rateLimitState;
  const left = async (): Promise<number> => {
    const allowance = { subject: 'key:a:ever:0', limitNanoUsd: 1_000, wantNanoUsd: 1_001, minNanoUsd: 1_001 };
    const answer = await reservations.reserve({ id: 'all', expiresInMs: 1, allowances: [allowance] }, () =>
      Promise.resolve(0),
    );
    return answer.ok ? NaN : answer.leftNanoUsd;
  };
  return { budgetReservation, settled, left };
}

test('replaces the reservation of the turn by an extension', async () => {
  const { budgetReservation, left } = await open(300);
  const budget = budgetReservation.budget;
  assert.ok(budget !== undefined);
  assert.equal(budget.room().ownNanoUsd, 300);
  assert.equal(await budgetReservation.extend(budget, () => ({ ...estimate(700), least: spend(301) })), true);
  assert.deepEqual([budget.room().ownNanoUsd, await left()], [700, 300]);
  assert.equal(await budgetReservation.extend(budget, () => ({ ...estimate(2_000), least: spend(1_001) })), false);
  assert.equal(budget.room().ownNanoUsd, 700, 'what is reserved stays');
});

test('extends no turn that is over', async () => {
  const { budgetReservation, left } = await open(300);
  const budget = budgetReservation.budget;
  assert.ok(budget !== undefined);
  assert.equal(await budgetReservation.move([LIMIT], () => estimate(200)), true);
  assert.equal(await budgetReservation.extend(budget, () => estimate(900)), false);
  assert.equal(await left(), 800);
});

test('settles a charge with an extension under way, and leaves nothing reserved', async () => {
  const rateLimitState = Promise.withResolvers<void>();
  const { budgetReservation, settled, left } = await open(300, () => rateLimitState.promise);
  const budget = budgetReservation.budget;
  assert.ok(budget !== undefined);
  const extended = budgetReservation.extend(budget, () => estimate(700));
  const over = budgetReservation.close()?.(spend(100), undefined);
  rateLimitState.resolve();
  await Promise.all([extended, over]);
  assert.deepEqual([settled, await left()], [['gen-1:1'], 900]);
});
