import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveMessage, LiveRow } from './messages.ts';
import { forgetGap, mergeRows, NO_TAIL, resumeTail, takeMessage, type Tail } from './tail.ts';

/** What the tail looks at: the rest of a row passes through. */
function rowsOf(...ids: readonly string[]): LiveMessage {
  const rows: unknown = ids.map((id) => ({ id }));
  assert.ok(isRows(rows));
  return { kind: 'rows', rows, isSampled: false };
}

function isRows(value: unknown): value is readonly LiveRow[] {
  return Array.isArray(value);
}

function after(messages: readonly LiveMessage[], isPaused = false, from: Tail = NO_TAIL): Tail {
  return messages.reduce((tail, message) => takeMessage(tail, message, isPaused, 1_000), from);
}

const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);

test('puts the newest row first, and keeps a bounded number', () => {
  assert.deepEqual(idsOf(after([rowsOf('a', 'b'), rowsOf('c')]).rows), ['c', 'b', 'a']);
  const many = Array.from({ length: 30 }, (_, at) => rowsOf(...Array.from({ length: 100 }, (_n, of) => `${at}.${of}`)));
  assert.equal(after(many).rows.length, 2_000);
});

test('counts what waits while it is paused, and shows it afterwards', () => {
  const paused = after([rowsOf('b', 'c')], true, after([rowsOf('a')]));
  assert.deepEqual([idsOf(paused.rows), paused.waitingCount], [['a'], 2]);
  const resumed = resumeTail(paused);
  assert.deepEqual([idsOf(resumed.rows), resumed.waitingCount], [['c', 'b', 'a'], 0]);
});

test('adds up what was missed, until the list was read again', () => {
  const tail = after([
    { kind: 'gap', missed: 3 },
    { kind: 'gap', missed: 4 },
    { kind: 'gap', missed: undefined },
  ]);
  assert.deepEqual([tail.missed, tail.isGapOpen], [7, true]);
  assert.deepEqual([forgetGap(tail).missed, forgetGap(tail).isGapOpen], [0, false]);
});

test('knows since when its stream is away', () => {
  assert.equal(after([{ kind: 'state', isLive: false }]).awaySinceMs, undefined);
  const broken = after([
    { kind: 'state', isLive: true },
    { kind: 'state', isLive: false },
  ]);
  assert.equal(broken.awaySinceMs, 1_000);
  assert.equal(takeMessage(broken, { kind: 'state', isLive: false }, false, 9_000).awaySinceMs, 1_000);
  assert.equal(takeMessage(broken, { kind: 'state', isLive: true }, false, 9_000).awaySinceMs, undefined);
});

test('shows a row that is in the list as well once', () => {
  assert.deepEqual(idsOf(mergeRows([{ id: 'c' }, { id: 'b' }], [{ id: 'b' }, { id: 'a' }])), ['c', 'b', 'a']);
});
