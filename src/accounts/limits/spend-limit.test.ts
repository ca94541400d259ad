import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedName, countedSpend, windowStartMs, type SpendLimit } from './spend-limit.ts';

const NOON_MS = Date.parse('2026-11-25T12:00:00Z');
const limit: SpendLimit = { subject: 'key:a', kind: 'key', limitNanoUsd: 5, reset: 'daily', includesByok: false };

// @spec money-39
test('counts a limit without a window from the beginning of time', () => {
  assert.equal(windowStartMs(null, NOON_MS), 0);
});

// @spec money-39
test('begins a window at midnight, on Monday, or on the first', () => {
  assert.deepEqual(
    (['daily', 'weekly', 'monthly'] as const).map((reset) => new Date(windowStartMs(reset, NOON_MS)).toISOString()),
    ['2026-11-25T00:00:00.000Z', '2026-11-23T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  );
});

test('names counts differently that count differently', () => {
  const startMs = windowStartMs('daily', NOON_MS);
  const names = [
    countedName(limit, startMs),
    countedName(limit, startMs + 86_400_000),
    countedName({ ...limit, subject: 'key:b' }, startMs),
    // Where the first of a month is a Monday, three windows begin together.
    countedName({ ...limit, reset: 'weekly' }, startMs),
    countedName({ ...limit, includesByok: true }, startMs),
  ];
  assert.equal(new Set(names).size, names.length);
});

test("counts calls with callers' credentials where the limit says so", () => {
  const spent = { ownNanoUsd: 3, byokNanoUsd: 4 };
  assert.equal(countedSpend(limit, spent), 3);
  assert.equal(countedSpend({ ...limit, includesByok: true }, spent), 7);
});
