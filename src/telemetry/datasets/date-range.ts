import { invalid } from '../../canonical/gateway-error.ts';
import { DAY_MS, floorTo } from '../../store/usage/hours.ts';

export interface DateRange {
  /** Inclusive, UTC. */
  readonly startDate: string;
  readonly endDate: string;
  /** A half-open range, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
}

const FLOOR_MS = Date.parse('2025-01-01T00:00:00Z');
const DEFAULT_DAYS = 30;

export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** The last complete days. */
export function lastDays(days: number, nowMs: number): DateRange {
  const toMs = floorTo(nowMs, DAY_MS);
  const fromMs = toMs - days * DAY_MS;
  return { startDate: dateOf(fromMs), endDate: dateOf(toMs - DAY_MS), fromMs, toMs };
}

/**
 * Complete days, by default the last 30.
 * @spec dataset-2
 * @throws GatewayError 400
 */
export function parseDates(
  { start, end }: { readonly start: string | undefined; readonly end: string | undefined },
  nowMs: number,
  daysMax: number,
): DateRange {
  const todayMs = floorTo(nowMs, DAY_MS);
  const toMs = Math.min(end === undefined ? todayMs : Date.parse(end) + DAY_MS, todayMs);
  if (toMs <= FLOOR_MS) throw invalid('query.end_date', 'must not be before 2025-01-01');
  const fromMs = Math.max(start === undefined ? toMs - DEFAULT_DAYS * DAY_MS : Date.parse(start), FLOOR_MS);
  if (fromMs >= toMs) throw invalid('query.start_date', 'must not be after end_date, nor after yesterday');
  if (toMs - fromMs > daysMax * DAY_MS)
    throw invalid('query.start_date', `must be at most ${daysMax} days before the end`);
  return { startDate: dateOf(fromMs), endDate: dateOf(toMs - DAY_MS), fromMs, toMs };
}
