import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRedisState } from './state.ts';

/** An address without a server. */
const NOWHERE = 'redis://127.0.0.1:1';

test('counts what other processes spent a second after it is in the database while Redis is away', async (t) => {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const state = await openRedisState({ url: NOWHERE, prefix: '{nowhere}:', clock, textBytesMax: 0 });
  t.after(() => state.close());
  let spentNanoUsd = 0;
  const left = async (): Promise<boolean> => {
    const allowance = { subject: 'key:a:ever:0', limitNanoUsd: 100, wantNanoUsd: 10, minNanoUsd: 10 };
    return (await state.reservations.check([allowance], () => Promise.resolve(spentNanoUsd))).ok;
  };
  assert.equal(await left(), true);
  spentNanoUsd = 95;
  nowMs = 999;
  assert.equal(await left(), true, 'nobody reads it for every request');
  nowMs = 1_000;
  assert.equal(await left(), false);
});
