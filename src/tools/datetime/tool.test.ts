import assert from 'node:assert/strict';
import { test } from 'node:test';
import { datetime, formatTime } from './tool.ts';

const NOON = Date.UTC(2026, 0, 15, 12, 0, 0, 7);

// @spec tool-29
test('returns ISO 8601 with milliseconds and the offset of the zone', () => {
  assert.equal(formatTime(NOON, 'UTC'), '2026-01-15T12:00:00.007+00:00');
  assert.equal(formatTime(NOON, 'Europe/Berlin'), '2026-01-15T13:00:00.007+01:00');
  assert.equal(formatTime(NOON, 'Asia/Kathmandu'), '2026-01-15T17:45:00.007+05:45');
  assert.equal(formatTime(NOON, 'America/New_York'), '2026-01-15T07:00:00.007-05:00');
});

test('returns the offset of that day', () => {
  assert.equal(formatTime(Date.UTC(2026, 6, 15), 'Europe/Berlin'), '2026-07-15T02:00:00.000+02:00');
});

test('reports midnight as hour 0', () => {
  assert.equal(formatTime(Date.UTC(2026, 0, 1), 'UTC'), '2026-01-01T00:00:00.000+00:00');
});

test('names the same moment in the text', () => {
  for (const zone of ['UTC', 'Pacific/Apia', 'America/St_Johns', 'Australia/Lord_Howe'])
    assert.equal(Date.parse(formatTime(NOON, zone)), NOON, zone);
});

// @spec tool-29
test('accepts only IANA names of zones', () => {
  for (const timezone of ['UTC', 'Europe/Berlin', null, undefined])
    assert.equal(datetime.parameters.safeParse({ timezone }).success, true, String(timezone));
  for (const timezone of ['', 'Mars/Base', 'Europe/Berlin; DROP', 7])
    assert.equal(datetime.parameters.safeParse({ timezone }).success, false, String(timezone));
});
