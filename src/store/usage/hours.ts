export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** From where the hours and days are to be summed up again, of which a record comes late. Unix ms. */
export function daysToSumUpAgain(sinceMs: number): { readonly hourlyMs: number; readonly dailyMs: number } {
  return { hourlyMs: floorTo(sinceMs, HOUR_MS), dailyMs: floorTo(sinceMs, DAY_MS) };
}

export function floorTo(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}
