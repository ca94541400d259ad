import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietUntilMs } from './quiet-hours.ts';

const NIGHT = { tz: 'Europe/Vienna', from: '22:00', to: '07:00' };
const until = (quiet: Parameters<typeof quietUntilMs>[0], at: string): string | undefined => {
  const found = quietUntilMs(quiet, Date.parse(at));
  return found === undefined ? undefined : new Date(found).toISOString().slice(0, 16);
};

// @spec notification-8
test('goes by the clock on the wall of the zone, over midnight', () => {
  assert.equal(until(NIGHT, '2026-07-01T19:59:00Z'), undefined);
  assert.equal(until(NIGHT, '2026-07-01T20:00:30Z'), '2026-07-02T05:00');
  assert.equal(until(NIGHT, '2026-07-02T04:59:59Z'), '2026-07-02T05:00');
  assert.equal(until(NIGHT, '2026-12-01T21:30:00Z'), '2026-12-02T06:00');
  assert.equal(until({ ...NIGHT, from: '12:00', to: '13:00' }, '2026-07-01T10:30:00Z'), '2026-07-01T11:00');
  assert.equal(until(null, '2026-07-01T23:00:00Z'), undefined);
});

test('counts an hour that repeats as one quiet time, and ends with the hour after one that is missing', () => {
  const early = { ...NIGHT, from: '01:00', to: '02:30' };
  // 25 October 2026: 03:00 summer time is 02:00 winter time.
  assert.equal(until({ ...early, to: '03:00' }, '2026-10-25T00:15:00Z'), '2026-10-25T02:00');
  // 29 March 2026: 02:00 is 03:00.
  assert.equal(until(early, '2026-03-29T00:15:00Z'), '2026-03-29T01:00');
});

test('begins on the days that are named, and lasts into the next one', () => {
  const friday = { ...NIGHT, days: ['fri' as const] };
  assert.equal(until(friday, '2026-07-03T21:00:00Z'), '2026-07-04T05:00');
  assert.equal(until(friday, '2026-07-04T03:00:00Z'), '2026-07-04T05:00');
  assert.equal(until(friday, '2026-07-04T21:00:00Z'), undefined);
  assert.equal(until({ ...friday, from: '00:00', to: '00:00' }, '2026-07-03T10:00:00Z'), '2026-07-03T22:00');
});
