import type { UpstreamFailure } from '../canonical/failure/failure.ts';

/** The operator's rule for retries at one endpoint before the next candidate. */
export interface RetryRule {
  /** Tries after the first one. */
  readonly sameEndpoint: number;
  /** An upstream that names a longer wait is not retried. */
  readonly waitMsMax: number;
}

/** The wait, and the part of it that is random: requests that failed together do not retry together. */
const RETRY_MS_MIN = 100;
const RETRY_MS_SPREAD = 200;

const PASSING_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 529]);

/**
 * The wait before the same endpoint is retried; `undefined`: no retry. After silence there is none (@spec fallback-6);
 * after `Retry-After` it is when that time is over, if that is soon.
 */
export function retryDelayMs(failure: UpstreamFailure, random: number, waitMsMax: number): number | undefined {
  const { kind, upstreamStatus, retryAfterMs } = failure;
  const jitterMs = RETRY_MS_MIN + random * RETRY_MS_SPREAD;
  if (retryAfterMs !== undefined && (upstreamStatus === 429 || PASSING_STATUSES.has(upstreamStatus ?? 0)))
    return retryAfterMs <= waitMsMax ? retryAfterMs + jitterMs : undefined;
  const isPassing =
    kind === 'connect' || kind === 'reset' || kind === 'early-end' || PASSING_STATUSES.has(upstreamStatus ?? 0);
  return isPassing && failure.mayTry === 'next-endpoint' ? jitterMs : undefined;
}
