import { readZone, type Zone } from './preferences/zone.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** `2026-11-27 14:02:11 UTC`, `2026-11-27 15:02:11 UTC+1` */
export function formatMoment(at: Date, zone: Zone = readZone()): string {
  return `${toDigits(at, zone).slice(0, 19).replace('T', ' ')} ${suffixOf(at, zone)}`;
}

/** Without seconds and zone, where a heading names the zone: `2026-11-27 14:02` */
export function formatMinute(at: Date, zone: Zone = readZone()): string {
  return toDigits(at, zone).slice(0, 16).replace('T', ' ');
}

/** `14:02:11 UTC` */
export function formatClock(at: Date, zone: Zone = readZone()): string {
  return `${toDigits(at, zone).slice(11, 19)} ${suffixOf(at, zone)}`;
}

/** Time of a row: `14:02:11.204`, with its day where it is not today. */
export function formatRowTime(at: Date, nowMs: number, zone: Zone = readZone()): string {
  const digits = toDigits(at, zone);
  const time = digits.slice(11, 23);
  return digits.slice(0, 10) === toDigits(new Date(nowMs), zone).slice(0, 10)
    ? time
    : `${digits.slice(5, 10)} ${time.slice(0, 8)}`;
}

/** As `toISOString` has it, in the zone. */
export function toDigits(at: Date, zone: Zone): string {
  return zone === 'utc' ? at.toISOString() : new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString();
}

/** What the clock of the zone is ahead of UTC: `UTC`, `UTC+1`, `UTC-3:30`. */
function suffixOf(at: Date, zone: Zone): string {
  if (zone === 'utc') return 'UTC';
  const minutes = -at.getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

/** `3 min ago`, `in 8 d` */
export function formatRelative(at: Date, nowMs: number): string {
  const ms = at.getTime() - nowMs;
  const size = Math.abs(ms);
  if (size < 5_000) return 'now';
  const text = formatSpan(size);
  return ms < 0 ? `${text} ago` : `in ${text}`;
}

/** One unit, rounded down: `45 s`, `12 min`, `3 h`, `8 d`. */
export function formatSpan(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1_000)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** A duration of a request: `412 ms`, `3.12 s`. */
export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 100_000 ? `${(ms / 1_000).toFixed(2)} s` : formatSpan(ms);
}

/** Ranges of the address, `last 24 h` and its like. */
export const RANGES = ['1h', '24h', '7d', '30d'] as const;
export type Range = (typeof RANGES)[number];

const RANGE_MS: Readonly<Record<Range, number>> = {
  '1h': HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
};
export const RANGE_LABELS: Readonly<Record<Range, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 h',
  '7d': 'last 7 d',
  '30d': 'last 30 d',
};

/** Both ends as the API takes them, the end rounded up to a minute so that a page reads the same for a while. */
export function boundsOf(range: Range, nowMs: number): { readonly start: string; readonly end: string } {
  const end = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  return { start: isoSeconds(end - RANGE_MS[range]), end: isoSeconds(end) };
}

/** The granularity of analytics in which a range has some 30 to 60 points. */
export function granularityOf(range: Range): 'minute' | 'hour' | 'day' {
  if (range === '1h') return 'minute';
  return range === '24h' || range === '7d' ? 'hour' : 'day';
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
