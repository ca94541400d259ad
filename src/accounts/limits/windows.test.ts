import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWindows, windowEndMs } from './windows.ts';

const at = (text: string): number => Date.parse(text);

const CASES = [
  [
    'a Sunday belongs to the week of the Monday before',
    '2026-11-22T23:59:59.999Z',
    '2026-11-22',
    '2026-11-16',
    '2026-11',
  ],
  ['a Monday opens a week', '2026-11-23T00:00:00.000Z', '2026-11-23', '2026-11-23', '2026-11'],
  ['a week may begin in the month before', '2026-12-02T12:00:00Z', '2026-12-02', '2026-11-30', '2026-12'],
  ['the first moment of a year', '2027-01-01T00:00:00Z', '2027-01-01', '2026-12-28', '2027-01'],
  ['a leap day', '2028-02-29T08:00:00Z', '2028-02-29', '2028-02-28', '2028-02'],
] as const;

for (const [promise, now, day, week, month] of CASES)
  test(promise, () => {
    assert.deepEqual(openWindows(at(now)), {
      dayStartMs: at(`${day}T00:00:00Z`),
      weekStartMs: at(`${week}T00:00:00Z`),
      monthStartMs: at(`${month}-01T00:00:00Z`),
    });
  });

test('a window ends where the next one begins, also at the end of a year', () => {
  for (const now of ['2026-11-22T23:59:59.999Z', '2026-12-31T12:00:00Z', '2028-02-29T08:00:00Z']) {
    const nowMs = at(now);
    const before = openWindows(nowMs);
    for (const [reset, name] of [
      ['daily', 'dayStartMs'],
      ['weekly', 'weekStartMs'],
      ['monthly', 'monthStartMs'],
    ] as const) {
      const endMs = windowEndMs(reset, nowMs);
      assert.equal(openWindows(endMs)[name], endMs);
      assert.equal(openWindows(endMs - 1)[name], before[name]);
    }
  }
});
