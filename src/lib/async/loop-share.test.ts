import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LoopShare } from './loop-share.ts';

const PIECE_BYTES = 10_000;

test('passes on at once what one turn of the event loop has room for, and the rest in later turns, in order', async () => {
  const share = new LoopShare(2 * PIECE_BYTES);
  const passed: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e'])
    if (share.take(PIECE_BYTES, () => passed.push(name) > 0)) passed.push(name);
  assert.deepEqual(passed, ['a', 'b']);
  await nextTurn();
  assert.deepEqual(passed, ['a', 'b', 'c', 'd']);
  await nextTurn();
  assert.deepEqual(passed, ['a', 'b', 'c', 'd', 'e']);
});

test('lets nothing that comes later pass what waits', async () => {
  const share = new LoopShare(PIECE_BYTES);
  const passed: string[] = [];
  share.take(PIECE_BYTES, () => true);
  share.take(PIECE_BYTES, () => passed.push('first') > 0);
  await nextTurn();
  assert.deepEqual(passed, ['first']);
  assert.equal(
    share.take(PIECE_BYTES, () => passed.push('second') > 0),
    false,
  );
  await nextTurn();
  assert.deepEqual(passed, ['first', 'second']);
});

test('passes on a piece that is larger than the room of a turn', async () => {
  const share = new LoopShare(PIECE_BYTES);
  let isPassed = false;
  assert.ok(share.take(5 * PIECE_BYTES, () => true));
  share.take(5 * PIECE_BYTES, () => (isPassed = true));
  await nextTurn();
  assert.ok(isPassed);
});

test('gives the room of what nothing waits for to the next', async () => {
  const share = new LoopShare(PIECE_BYTES);
  const passed: string[] = [];
  share.take(PIECE_BYTES, () => true);
  share.take(PIECE_BYTES, () => false);
  share.take(PIECE_BYTES, () => passed.push('next') > 0);
  await nextTurn();
  assert.deepEqual(passed, ['next']);
});

test('does not count small pieces', () => {
  const share = new LoopShare(PIECE_BYTES);
  share.take(PIECE_BYTES, () => true);
  assert.ok(share.take(100, () => true));
});
