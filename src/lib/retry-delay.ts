/** Longest wait that an upstream may name; a longer one is cut to it. */
const RETRY_AFTER_MS_MAX = 60 * 60 * 1_000;

type Headers = Readonly<Record<string, string>>;

/**
 * How long an upstream asks to wait, ms, from `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.
 * `undefined` when it does not say, or not in words that can be read. @source RFC 9110, 10.2.3; pains.md 8
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const inMs = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(inMs) && inMs >= 0) return Math.min(Math.ceil(inMs), RETRY_AFTER_MS_MAX);
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds))
    return seconds < 0 ? undefined : Math.min(Math.ceil(seconds * 1_000), RETRY_AFTER_MS_MAX);
  const dateMs = Date.parse(text);
  if (Number.isNaN(dateMs)) return undefined;
  return Math.min(Math.max(0, dateMs - nowMs), RETRY_AFTER_MS_MAX);
}
