import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offsetOfZone } from './time-zone.ts';

const HOUR_MS = 3_600_000;
const [SUMMER, WINTER] = [Date.parse('2026-07-01T00:00:00Z'), Date.parse('2026-12-01T00:00:00Z')];

test('knows how far a zone is ahead, at each time of the year', () => {
  for (const [zone, atMs, hours] of [
    ['Europe/Berlin', SUMMER, 2],
    ['Europe/Berlin', WINTER, 1],
    ['America/New_York', WINTER, -5],
    ['Asia/Kolkata', WINTER, 5.5],
    ['UTC', WINTER, 0],
    ['+02:00', WINTER, 2],
    ['-03:30', WINTER, -3.5],
  ] as const)
    assert.equal(offsetOfZone(zone, atMs), hours * HOUR_MS, zone);
});

test('knows no zone that there is not', () => {
  for (const zone of ['', 'Berlin', '+2', '+15:00', 'x'.repeat(300)])
    assert.equal(offsetOfZone(zone, WINTER), undefined);
});
