import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from './slots.ts';

test('holds what was added and is not free yet', () => {
  const slots = new Slots<string>();
  const [first, second] = [slots.add('a'), slots.add('b')];
  slots.free(first);
  assert.deepEqual([[...slots], slots.size], [['b'], 1]);
  slots.free(second);
  assert.deepEqual([[...slots], slots.size], [[], 0]);
});

test('takes no more room than the most members at once', () => {
  const slots = new Slots<number>();
  const taken = new Set<number>();
  for (let round = 0; round < 1_000; round++) {
    const held = [slots.add(round), slots.add(-round)];
    for (const slot of held) {
      taken.add(slot);
      slots.free(slot);
    }
  }
  assert.equal(taken.size, 2);
});
