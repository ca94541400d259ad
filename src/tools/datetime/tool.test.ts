import assert from 'node:assert/strict';
import { test } from 'node:test';
import { datetime, drawTime } from './tool.ts';

const NOON = Date.UTC(2026, 0, 15, 12, 0, 0, 7);

test('the time is ISO 8601 with milliseconds and the offset of the zone', () => {
  assert.equal(drawTime(NOON, 'UTC'), '2026-01-15T12:00:00.007+00:00');
  assert.equal(drawTime(NOON, 'Europe/Berlin'), '2026-01-15T13:00:00.007+01:00');
  assert.equal(drawTime(NOON, 'Asia/Kathmandu'), '2026-01-15T17:45:00.007+05:45');
  assert.equal(drawTime(NOON, 'America/New_York'), '2026-01-15T07:00:00.007-05:00');
});

test('the offset is the one of that day', () => {
  assert.equal(drawTime(Date.UTC(2026, 6, 15), 'Europe/Berlin'), '2026-07-15T02:00:00.000+02:00');
});

test('midnight is hour 0', () => {
  assert.equal(drawTime(Date.UTC(2026, 0, 1), 'UTC'), '2026-01-01T00:00:00.000+00:00');
});

test('the text names the very moment', () => {
  for (const zone of ['UTC', 'Pacific/Apia', 'America/St_Johns', 'Australia/Lord_Howe'])
    assert.equal(Date.parse(drawTime(NOON, zone)), NOON, zone);
});

test('a zone is the IANA name of one', () => {
  for (const timezone of ['UTC', 'Europe/Berlin', null, undefined])
    assert.equal(datetime.parameters.safeParse({ timezone }).success, true, String(timezone));
  for (const timezone of ['', 'Mars/Base', 'Europe/Berlin; DROP', 7])
    assert.equal(datetime.parameters.safeParse({ timezone }).success, false, String(timezone));
});
