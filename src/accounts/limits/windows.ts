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
