import type { ErrorType, Issue } from '../gateway-error.ts';

/** Bound on what is kept of an upstream's own message. */
export const UPSTREAM_MESSAGE_CHARS_MAX = 2_000;

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
    | 'aborted'
    /** The format of the endpoint cannot express the request. */
    | 'unsayable'
    /** No upstream failed: the caller's limits leave too little for the next call. */
    | 'unfunded'
    /** The upstream was to continue a response that had broken off, and began another one. */
    | 'unspliceable';
  /** What it means in the gateway's vocabulary. */
  readonly errorType: ErrorType;
  /** The status for the caller when no further candidate is tried. */
  readonly status: number;
  /** The status of the upstream's response, when there was one. */
  readonly upstreamStatus?: number;
  /** A sentence of ours, safe to show. */
  readonly message: string;
  /** The upstream's own message, bounded and redacted; never shown with a 5xx "server" error. */
  readonly upstreamMessage?: string;
  readonly providerCode?: string;
  /** The error as it was parsed, for the adapter that knows more of it; it is dropped after the attempt. */
  readonly errorBody?: UpstreamErrorBody;
  /** Why no connection was made, as the system or the TLS library reports it: for the operator alone. */
  readonly cause?: string;
  readonly retryAfterMs?: number;
  /** Members of the request that are at fault, with kind `unsayable`. */
  readonly issues?: readonly Issue[];
  /** The next candidate to try. `next-endpoint` includes the next model; `nothing`: the request itself is at fault. */
  readonly mayTry: 'next-endpoint' | 'next-model' | 'nothing';
  /** Which clock ran out, with kind `timeout`. */
  readonly clock?: 'connect' | 'headers' | 'first-token' | 'idle' | 'whole' | 'total';
  /** The adaptive limit that ran out, shorter than the configured one, because another candidate was left. */
  readonly cutAfterMs?: number;
}

/** An upstream's report of its own failure, in any of the shapes that its format uses. */
export interface UpstreamErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly type?: string;
  /** The member of the request that is at fault. */
  readonly param?: string;
  /** How long to wait, where the body holds that; a header wins over it. */
  readonly retryAfterMs?: number;
}

/** Whether the provider's own message is shown: for a fault of the request, but not for a fault of the provider. */
export function explains(failure: UpstreamFailure): boolean {
  return failure.status < 500 && failure.status !== 408 && failure.upstreamMessage !== undefined;
}

/** The message of a failure for the caller, in a whole response as in a stream. */
export function describeFailure(failure: UpstreamFailure): string {
  return explains(failure) ? `${failure.message} The provider's message: ${failure.upstreamMessage}` : failure.message;
}
