const FIRST_MS = 50;
const LAST_MS = 5_000;

/** The wait before the next try after so many failures in a row, ms. */
export function retryDelayMs(failures: number): number {
  return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
}
