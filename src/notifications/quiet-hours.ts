import type { QuietHours } from '../resources/notification-channels.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Longer than any quiet time, with an hour that repeats. */
const SCANNED_MINUTES_MAX = 1_560;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/**
 * When quiet hours end, Unix ms; `undefined`: it is none of them. They go by the clock on the wall of their zone, so that
 * an hour that repeats in autumn is one quiet hour, and one that is missing in spring ends them with the hour after.
 */
export function quietUntilMs(quiet: QuietHours | null, nowMs: number): number | undefined {
  if (quiet === null) return undefined;
  const isQuiet = quietAt(quiet);
  if (!isQuiet(nowMs)) return undefined;
  const start = nowMs - (nowMs % MINUTE_MS);
  for (let minute = 1; minute <= SCANNED_MINUTES_MAX; minute++) {
    const atMs = start + minute * MINUTE_MS;
    if (!isQuiet(atMs)) return atMs;
  }
  return start + SCANNED_MINUTES_MAX * MINUTE_MS;
}

function quietAt({ tz, from, to, days }: QuietHours): (atMs: number) => boolean {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: tz,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const begins = (day: number): boolean => days === undefined || days.some((name) => name === DAYS[(day + 7) % 7]);
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
    const day = DAYS.findIndex((name) => name === parts.get('weekday')?.toLowerCase());
    if (begin < end) return minute >= begin && minute < end && begins(day);
    // Over midnight, or around the clock: they began yesterday where the day is young.
    return minute >= begin ? begins(day) : minute < end && begins(day - 1);
  };
}

function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return (hours * 60 + minutes) % DAY_MINUTES;
}
