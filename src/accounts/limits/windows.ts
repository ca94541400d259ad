import type { LimitReset } from '../../resources/keys.ts';
import type { SpendWindows } from '../../store/usage/spend.ts';

const DAY_MS = 86_400_000;

/** Computes when the current UTC day, week (from Monday) and month began. @spec money-39 */
export function openWindows(nowMs: number): SpendWindows {
  const now = new Date(nowMs);
  const dayStartMs = nowMs - (((nowMs % DAY_MS) + DAY_MS) % DAY_MS);
  const daysSinceMonday = (now.getUTCDay() + 6) % 7;
  return {
    dayStartMs,
    weekStartMs: dayStartMs - daysSinceMonday * DAY_MS,
    monthStartMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1),
  };
}

/** Computes when the current window ends, Unix ms. */
export function windowEndMs(reset: LimitReset, nowMs: number): number {
  const { dayStartMs, weekStartMs, monthStartMs } = openWindows(nowMs);
  if (reset === 'daily') return dayStartMs + DAY_MS;
  if (reset === 'weekly') return weekStartMs + 7 * DAY_MS;
  const start = new Date(monthStartMs);
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1);
}
