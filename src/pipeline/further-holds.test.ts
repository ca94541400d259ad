import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePrincipal } from '../accounts/test-principal.ts';
import type { Hold, Ledger, Wish } from '../accounts/ledger.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { createFurtherHolds } from './further-holds.ts';

/** Holds by their ids, as far as this much money goes. */
function openLedger(nanoUsd: number) {
  const held = new Map<string, number>();
  const ledger: Pick<Ledger, 'reserve' | 'release'> = {
    reserve(_principal, _limits, wishOf) {
      const { generationId, worst, instead = [] } = wishOf();
      const others = [...held].filter(([id]) => !instead.some((hold) => hold.id === id));
      if (others.reduce((sum, [, each]) => sum + each, worst.ownNanoUsd) > nanoUsd)
        return Promise.reject(new GatewayError('payment_required', 'Too little.'));
      for (const { id } of instead) held.delete(id);
      held.set(generationId, worst.ownNanoUsd);
      return Promise.resolve({ id: generationId, counted: [] });
    },
    release: ({ id }) => Promise.resolve(void held.delete(id)),
  };
  const further = createFurtherHolds(ledger, { id: 'gen-1', asker: samplePrincipal() });
  const first: Hold = { id: 'gen-1', counted: [] };
  held.set(first.id, 10);
  return { further, first, sums: () => [...held.values()] };
}

const wish = (ownNanoUsd: number) => (): Wish => ({
  generationId: '',
  worst: { ownNanoUsd, byokNanoUsd: 0 },
  isOpenEnded: false,
  affordableTokens: () => 0,
});

test('a request that goes on holds what it has cost and what comes next, and nothing of before', async () => {
  const { further, first, sums } = openLedger(30);
  await further.fund([], 5);
  assert.equal(await further.add([], wish(10)), true, 'somebody else goes on with the answer');
  assert.deepEqual(sums(), [10, 5, 10]);
  const moved = await further.move(first, [], wish(28));
  assert.deepEqual(sums(), [28]);
  assert.deepEqual(moved?.hold, { id: 'gen-1:3', counted: [] });
});

test('a request for which too little is left goes on holding what it held, for what it has cost', async () => {
  const { further, first, sums } = openLedger(30);
  assert.equal(await further.move(first, [], wish(31)), undefined);
  assert.deepEqual(sums(), [10]);
});

test('a request is not told that too little is left while nobody knows', async () => {
  const away = new GatewayError('provider_overloaded', 'What was spent cannot be checked.');
  const ledger = { reserve: () => Promise.reject(away), release: () => Promise.resolve() };
  const further = createFurtherHolds(ledger, { id: 'gen-1', asker: samplePrincipal() });
  await assert.rejects(further.move({ id: 'gen-1', counted: [] }, [], wish(1)), away);
});

test('a request that is over holds nothing, and nobody goes on with it', async () => {
  const { further, sums } = openLedger(30);
  await further.fund([], 5);
  await further.release();
  assert.equal(await further.add([], wish(1)), false);
  assert.deepEqual(sums(), [10], 'the first hold is settled with the charge');
});

test('a request that is over while it goes on leaves nothing held', async () => {
  const asked = Promise.withResolvers<Hold>();
  const released: string[] = [];
  const ledger = {
    reserve: () => asked.promise,
    release: ({ id }: Hold) => Promise.resolve(void released.push(id)),
  };
  const further = createFurtherHolds(ledger, { id: 'gen-1', asker: samplePrincipal() });
  const moved = further.move({ id: 'gen-1', counted: [] }, [], wish(1));
  await further.release();
  asked.resolve({ id: 'gen-1:1', counted: [] });
  assert.equal(await moved, undefined);
  assert.deepEqual(released, ['gen-1:1']);
});
