import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsOf, formatMs, formatRelative, formatRowTime, formatMoment, formatMinute } from './time.ts';

const NOW = Date.UTC(2026, 10, 27, 14, 2, 11, 204);

test('shows times in UTC', () => {
  assert.equal(formatMoment(new Date(NOW)), '2026-11-27 14:02:11 UTC');
  assert.equal(formatRowTime(new Date(NOW), NOW), '14:02:11.204');
  assert.equal(formatRowTime(new Date(NOW - 86_400_000), NOW), '11-26 14:02:11');
});

test('formats ages and what is to come in one unit', () => {
  const relative = [-2_000, -45_000, -7_200_000, 8 * 86_400_000].map((ms) => formatRelative(new Date(NOW + ms), NOW));
  assert.deepEqual(relative, ['now', '45 s ago', '2 h ago', 'in 8 d']);
  assert.deepEqual([412, 3_120, 120_000, null].map(formatMs), ['412 ms', '3.12 s', '2 min', '–']);
});

test('gives the same range within a minute', () => {
  assert.deepEqual(boundsOf('24h', NOW), { start: '2026-11-26T14:03:00Z', end: '2026-11-27T14:03:00Z' });
  assert.deepEqual(boundsOf('24h', NOW + 10_000), boundsOf('24h', NOW));
});

test('shows times in the zone of the machine, with what it is ahead of UTC', () => {
  const before = process.env['TZ'];
  try {
    for (const [zone, moment] of [
      ['Europe/Berlin', '2026-11-27 15:02:11 UTC+1'],
      ['Asia/Kolkata', '2026-11-27 19:32:11 UTC+5:30'],
      ['America/St_Johns', '2026-11-27 10:32:11 UTC-3:30'],
      ['Pacific/Kiritimati', '2026-11-28 04:02:11 UTC+14'],
    ] as const) {
      process.env['TZ'] = zone;
      assert.equal(formatMoment(new Date(NOW), 'local'), moment);
      assert.equal(formatMinute(new Date(NOW), 'local'), moment.slice(0, 16));
      assert.equal(formatMoment(new Date(NOW), 'utc'), '2026-11-27 14:02:11 UTC');
    }
    // Twelve hours before is another day there, and the same day in UTC.
    assert.equal(formatRowTime(new Date(NOW - 43_200_000), NOW, 'local'), '11-27 16:02:11');
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});
