import { GatewayError } from '../canonical/gateway-error.ts';
import type { JsonObject } from '../lib/json.ts';
import { publicError } from '../wire/gateway/error-body.ts';

/** An error, ready to be sent. */
export interface Problem {
  readonly error: GatewayError;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** The part of a logger that a problem needs. `err` is where pino looks for a stack and its causes. */
export interface ProblemLog {
  error(fields: { readonly err: unknown }, message: string): void;
}

/**
 * The one way from an error to an answer outside the generation formats, in the shape of @spec error-1. A fault of ours is
 * logged with its cause and answered with a fixed text.
 */
export function problemBody(error: unknown, log: ProblemLog): Problem {
  const refusal = asGatewayError(error);
  if (refusal.status >= 500) log.error({ err: error }, 'A request failed.');
  return {
    error: refusal,
    status: refusal.status,
    headers: errorHeaders(refusal),
    // Only routing knows availability, and with it the address of its documentation.
    body: { error: { ...publicError(refusal, '') } },
  };
}

/** Headers that belong to an error, whatever shape its body has. @spec rate-2, error-19; RFC 9110, 11.6.1 */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  if (error.rateLimit !== undefined) {
    headers['x-ratelimit-limit'] = String(error.rateLimit.limit);
    headers['x-ratelimit-remaining'] = String(error.rateLimit.remaining);
    headers['x-ratelimit-reset'] = String(error.rateLimit.resetAtMs);
  }
  if (error.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterMs / 1_000));
  // Not a standard header, but the vendors' clients obey it: openai 7.55, @anthropic-ai/sdk 1.11 `shouldRetry`, 2026-11.
  if (error.shouldRetry !== undefined) headers['x-should-retry'] = String(error.shouldRetry);
  return headers;
}

/** What the HTTP framework itself refuses, by the `code` of its errors. */
const FRAMEWORK_REFUSALS: Readonly<Record<string, () => GatewayError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new GatewayError('payload_too_large', 'The request body is too large.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new GatewayError('invalid_request', 'The request body is not as long as its Content-Length says.'),
};

function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof Error) {
    // What stores throw says so of itself; this folder does not know them.
    if ('transient' in error && error.transient === true)
      return new GatewayError('provider_overloaded', 'The database cannot be used at the moment. Try again.', {
        retryAfterMs: 1_000,
        cause: error,
      });
    const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
    const refusal = Object.hasOwn(FRAMEWORK_REFUSALS, code) ? FRAMEWORK_REFUSALS[code] : undefined;
    if (refusal !== undefined) return refusal();
    const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    if (status >= 400 && status < 500)
      return new GatewayError('invalid_request', 'The request is not well-formed.', { cause: error });
  }
  return new GatewayError('server', 'The gateway failed unexpectedly.', { cause: error });
}
