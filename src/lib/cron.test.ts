import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTime, parseCron } from './cron.ts';

/** The next times after a moment, UTC. */
function timesAfter(text: string, tz: string, after: string, count: number): readonly string[] {
  const cron = parseCron(text);
  if (typeof cron === 'string') throw new Error(cron);
  const times: string[] = [];
  let at: number | undefined = Date.parse(after);
  while (times.length < count && at !== undefined) {
    at = nextTime(cron, tz, at);
    if (at !== undefined) times.push(new Date(at).toISOString().slice(0, 16));
  }
  return times;
}

function faultOf(text: string): string {
  const found = parseCron(text);
  return typeof found === 'string' ? found : '';
}

test('reads lists, ranges, steps and names', () => {
  assert.deepEqual(timesAfter('*/20 9-10 * * mon-fri', 'UTC', '2026-11-27T10:30:00Z', 3), [
    '2026-11-27T10:40',
    '2026-11-30T09:00',
    '2026-11-30T09:20',
  ]);
  assert.deepEqual(timesAfter('0 0 1,15 JAN *', 'UTC', '2026-11-27T10:30:00Z', 3), [
    '2027-01-01T00:00',
    '2027-01-15T00:00',
    '2028-01-01T00:00',
  ]);
  assert.deepEqual(timesAfter('5/30 12 * * 7', 'UTC', '2026-11-27T10:30:00Z', 2), [
    '2026-11-29T12:05',
    '2026-11-29T12:35',
  ]);
});

test('takes a day by either field where both are given, and a leap day when it comes', () => {
  assert.deepEqual(timesAfter('0 6 13 * fri', 'UTC', '2026-11-28T00:00:00Z', 3), [
    '2026-12-04T06:00',
    '2026-12-11T06:00',
    '2026-12-13T06:00',
  ]);
  assert.deepEqual(timesAfter('0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 1), ['2104-02-29T00:00']);
  assert.deepEqual(timesAfter('0 0 30 2 *', 'UTC', '2026-11-28T00:00:00Z', 1), []);
});

test('goes by the clock on the wall of a zone', () => {
  assert.deepEqual(timesAfter('30 8 * * *', 'Europe/Vienna', '2026-10-24T00:00:00Z', 3), [
    '2026-10-24T06:30',
    '2026-10-25T07:30',
    '2026-10-26T07:30',
  ]);
  assert.deepEqual(timesAfter('15 0 * * *', 'Asia/Kathmandu', '2026-11-27T00:00:00Z', 1), ['2026-11-27T18:30']);
});

// @spec intern-24
test('comes at the first minute after an hour that is left out', () => {
  assert.deepEqual(timesAfter('30 2 * * *', 'Europe/Vienna', '2026-03-28T12:00:00Z', 2), [
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ]);
  assert.deepEqual(timesAfter('*/30 * * * *', 'America/New_York', '2026-03-08T06:00:00Z', 3), [
    '2026-03-08T06:30',
    '2026-03-08T07:00',
    '2026-03-08T07:30',
  ]);
  // Half an hour is left out here.
  assert.deepEqual(timesAfter('10 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 1), ['2026-10-03T15:30']);
});

// @spec intern-24
test('comes once in an hour that comes twice', () => {
  assert.deepEqual(timesAfter('30 2 * * *', 'Europe/Vienna', '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ]);
  assert.deepEqual(timesAfter('0,30 1 * * *', 'America/New_York', '2026-11-01T04:00:00Z', 3), [
    '2026-11-01T05:00',
    '2026-11-01T05:30',
    '2026-11-02T06:00',
  ]);
});

test('says what is wrong', () => {
  for (const [text, said] of [
    ['* * * *', /five fields/],
    ['60 * * * *', /no minute/],
    ['* 24 * * *', /no hour/],
    ['* * 0 * *', /no day of the month/],
    ['* * * 13 *', /no month/],
    ['* * * * 8', /no day of the week/],
    ['*/0 * * * *', /no minute/],
    ['5-1 * * * *', /no minute/],
    ['1-2-3 * * * *', /no minute/],
    ['@daily * * * *', /no minute/],
  ] as const)
    assert.match(faultOf(text), said);
});
