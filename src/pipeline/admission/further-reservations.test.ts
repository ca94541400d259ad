import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import type { Reservation, Ledger, BudgetEstimate } from '../../accounts/limits/ledger.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { FurtherReservations } from './further-reservations.ts';

/** Holds by their ids, as far as this much money goes. */
function openLedger(nanoUsd: number) {
  const held = new Map<string, number>();
  const ledger: Pick<Ledger, 'reserve' | 'release'> = {
    reserve(_principal, _limits, estimateOf) {
      const { generationId, worst, instead = [] } = estimateOf();
      const others = [...held].filter(([id]) => !instead.some((reservation) => reservation.id === id));
      if (others.reduce((sum, [, each]) => sum + each, worst.ownNanoUsd) > nanoUsd)
        return Promise.reject(new GatewayError('payment_required', 'Too little.'));
      for (const { id } of instead) held.delete(id);
      held.set(generationId, worst.ownNanoUsd);
      return Promise.resolve({ id: generationId, counted: [] });
    },
    release: ({ id }) => Promise.resolve(void held.delete(id)),
  };
  const further = new FurtherReservations(ledger, { id: 'gen-1', principal: samplePrincipal() });
  const first: Reservation = { id: 'gen-1', counted: [] };
  held.set(first.id, 10);
  return { further, first, sums: () => [...held.values()] };
}

const estimate = (ownNanoUsd: number) => (): BudgetEstimate => ({
  generationId: '',
  worst: { ownNanoUsd, byokNanoUsd: 0 },
  affordableTokens: () => 0,
});

test('reserves the cost so far and the next turn when a request goes on, and nothing from before', async () => {
  const { further, first, sums } = openLedger(30);
  await further.fund([], 5);
  assert.equal(await further.add([], estimate(10)), true, 'another endpoint continues the response');
  assert.deepEqual(sums(), [10, 5, 10]);
  const moved = await further.move(first, [], estimate(28));
  assert.deepEqual(sums(), [28]);
  assert.deepEqual(moved?.reservation, { id: 'gen-1:3', counted: [] });
});

test('keeps the reservation for the cost so far where too little is left to go on', async () => {
  const { further, first, sums } = openLedger(30);
  assert.equal(await further.move(first, [], estimate(31)), undefined);
  assert.deepEqual(sums(), [10]);
});

test('fails with 503, not as out of money, while the state cannot be read', async () => {
  const away = new GatewayError('provider_overloaded', 'What was spent cannot be checked.');
  const ledger = { reserve: () => Promise.reject(away), release: () => Promise.resolve() };
  const further = new FurtherReservations(ledger, { id: 'gen-1', principal: samplePrincipal() });
  await assert.rejects(further.move({ id: 'gen-1', counted: [] }, [], estimate(1)), away);
});

test('reserves nothing for a request that is over', async () => {
  const { further, sums } = openLedger(30);
  await further.fund([], 5);
  await further.release();
  assert.equal(await further.add([], estimate(1)), false);
  assert.deepEqual(sums(), [10], 'the first hold is settled with the charge');
});

test('leaves nothing reserved when a request ends while it goes on', async () => {
  const requested = Promise.withResolvers<Reservation>();
  const released: string[] = [];
  const ledger = {
    reserve: () => requested.promise,
    release: ({ id }: Reservation) => Promise.resolve(void released.push(id)),
  };
  const further = new FurtherReservations(ledger, { id: 'gen-1', principal: samplePrincipal() });
  const moved = further.move({ id: 'gen-1', counted: [] }, [], estimate(1));
  await further.release();
  requested.resolve({ id: 'gen-1:1', counted: [] });
  assert.equal(await moved, undefined);
  assert.deepEqual(released, ['gen-1:1']);
});
