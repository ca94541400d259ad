import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ResponseRoom, createWholeResponseMemory } from './whole-response-budget.ts';

const { signal } = new AbortController();

test('does not make a response of unknown size wait for an earlier one of the same request', async () => {
  const memory = createWholeResponseMemory(1_000);
  const room = new ResponseRoom(memory);
  await room.take(1_000, signal);
  const outcome = await Promise.race([
    room.take(1_000, signal).then(() => 'taken'),
    wait(200, 'waits', { ref: false }),
  ]);
  assert.equal(outcome, 'taken');
  room.close();
  assert.equal(memory.taken, 0);
});
