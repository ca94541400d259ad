/** The longest wait; a longer one is cut to it. */
const RETRY_AFTER_MS_MAX = 60 * 60 * 1_000;

type Headers = Readonly<Record<string, string>>;

/**
 * Parses the wait that an upstream requests, in ms: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.
 * `undefined` without a valid header. @source RFC 9110, 10.2.3; @spec error-19
 */
export function parseRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
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
