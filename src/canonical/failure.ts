import type { ErrorType } from './gateway-error.ts';

/** How an attempt at an upstream failed. A value, never thrown: the next candidate may do better. */
export interface UpstreamFailure {
  readonly kind:
    | 'connect'
    | 'reset'
    | 'status'
    | 'timeout'
    | 'error-event'
    | 'early-end'
    | 'garbage'
    | 'too-large'
    | 'aborted';
  /** What it means in the gateway's vocabulary. */
  readonly errorType: ErrorType;
  /** The status for the caller when this failure is the last word. */
  readonly status: number;
  /** What the upstream itself answered, when it answered. */
  readonly upstreamStatus?: number;
  /** A sentence of ours, safe to show. */
  readonly message: string;
  /** The upstream's own words, bounded and redacted; never shown with a 5xx "server" error. */
  readonly upstreamMessage?: string;
  readonly providerCode?: string;
  readonly retryAfterMs?: number;
  /** Who may try next. `next-endpoint` includes the next model; `nobody`: the request itself is at fault. */
  readonly mayTry: 'next-endpoint' | 'next-model' | 'nobody';
  /** Which clock ran out, with kind `timeout`. */
  readonly clock?: 'connect' | 'headers' | 'first-token' | 'idle' | 'whole' | 'total';
}

/** What an upstream said about its own failure, in any of the shapes that its format uses. */
export interface UpstreamErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly type?: string;
  /** The member of the request that is at fault. */
  readonly param?: string;
}
