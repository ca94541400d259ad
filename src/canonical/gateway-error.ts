import type { Json, JsonObject } from '../lib/json.ts';

/** Kinds of error with the status each has unless a rule says otherwise. @spec error-8 */
export const STATUS_OF_ERROR_TYPE = {
  invalid_request: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  max_tokens_exceeded: 400,
  token_limit_exceeded: 400,
  string_too_long: 400,
  content_policy_violation: 400,
  refusal: 400,
  invalid_image: 400,
  image_too_large: 400,
  image_too_small: 400,
  unsupported_image_format: 400,
  image_download_failed: 400,
  authentication: 401,
  payment_required: 402,
  permission_denied: 403,
  not_found: 404,
  image_not_found: 404,
  precondition_failed: 412,
  payload_too_large: 413,
  unprocessable: 422,
  rate_limit_exceeded: 429,
  server: 500,
  unmapped: 500,
  provider_unavailable: 502,
  provider_overloaded: 503,
  timeout: 524,
} as const;

export type ErrorType = keyof typeof STATUS_OF_ERROR_TYPE;

const LENGTH_ERRORS: ReadonlySet<ErrorType> = new Set([
  'context_length_exceeded',
  'max_tokens_exceeded',
  'token_limit_exceeded',
  'string_too_long',
]);

/** Whether an error says that there is no room for more: after output that is an end, not a failure. @spec translate-29 */
export function isLengthError(errorType: ErrorType): boolean {
  return LENGTH_ERRORS.has(errorType);
}

/** One violation, at the very member that is wrong: `messages[3].content[1].image_url.url`. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Why a model cannot be served now. @spec error-21 */
export interface Availability {
  readonly code:
    | 'model_not_found'
    | 'wrong_endpoint'
    | 'no_endpoints'
    | 'model_deprecated'
    | 'model_unavailable_upstream'
    | 'privacy_restricted'
    | 'constraint_filtered'
    | 'free_variant_ended'
    | 'capacity_exhausted'
    | 'temporarily_unavailable'
    | 'region_restricted';
  readonly retryable: boolean;
  readonly requestedModels: readonly string[];
  /** Whole seconds. */
  readonly retryAfterS?: number;
  readonly affectedProviders?: readonly string[];
  readonly excludedBy?: readonly string[];
  readonly constraint?: { readonly field: string; readonly detail: string };
}

/** How things stand with a limit. @spec rate-2 */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Unix ms. */
  readonly resetAtMs: number;
}

export interface GatewayErrorOptions {
  /** Overrides the status of the type. @spec error-10, error-12, error-16 */
  readonly status?: number;
  readonly issues?: readonly Issue[];
  /** Further members of `error.metadata`, fit for the caller's eyes. */
  readonly metadata?: JsonObject;
  readonly availability?: Availability;
  readonly retryAfterMs?: number;
  /** The gateway's own limit that was reached. */
  readonly rateLimit?: RateLimitState;
  /** What the caller may spend is too little: a limit of its own (402), or a budget over it (403). */
  readonly lacksFunds?: true;
  /** Whether a client does well to send the same once more by itself; absent: it judges by the status. */
  readonly shouldRetry?: boolean;
  readonly cause?: unknown;
}

/**
 * The one error that reaches a caller. The message is a sentence for the caller; whatever is not for the caller's eyes
 * belongs in `cause`, which only the operator's log sees.
 */
export class GatewayError extends Error {
  readonly type: ErrorType;
  readonly status: number;
  readonly issues: readonly Issue[] | undefined;
  readonly metadata: JsonObject | undefined;
  readonly availability: Availability | undefined;
  readonly retryAfterMs: number | undefined;
  readonly rateLimit: RateLimitState | undefined;
  readonly lacksFunds: boolean;
  readonly shouldRetry: boolean | undefined;

  constructor(type: ErrorType, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.type = type;
    this.status = options.status ?? STATUS_OF_ERROR_TYPE[type];
    this.issues = options.issues;
    this.metadata = options.metadata;
    this.availability = options.availability;
    this.retryAfterMs = options.retryAfterMs;
    this.rateLimit = options.rateLimit;
    this.lacksFunds = options.lacksFunds ?? this.status === 402;
    this.shouldRetry = options.shouldRetry;
  }
}

/** The same error with more metadata; the same object where there is none. */
export function withMetadata(error: GatewayError, more: JsonObject): GatewayError {
  return Object.keys(more).length === 0 ? error : changed(error, { metadata: { ...error.metadata, ...more } });
}

/** The same error, after which a client does well not to send the request again by itself: it may have been paid for. */
export function withoutRepeat(error: GatewayError): GatewayError {
  return changed(error, { shouldRetry: false });
}

function changed(error: GatewayError, change: Pick<GatewayErrorOptions, 'metadata' | 'shouldRetry'>): GatewayError {
  const { type, message, status, issues, metadata, availability, retryAfterMs, rateLimit, lacksFunds, shouldRetry } =
    error;
  return new GatewayError(type, message, {
    status,
    ...(metadata !== undefined && { metadata }),
    cause: error.cause,
    ...(lacksFunds && { lacksFunds }),
    ...(issues !== undefined && { issues }),
    ...(availability !== undefined && { availability }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(rateLimit !== undefined && { rateLimit }),
    ...(shouldRetry !== undefined && { shouldRetry }),
    ...change,
  });
}

/** A 400 for one wrong member. */
export function invalid(path: string, message: string, type: ErrorType = 'invalid_request'): GatewayError {
  return new GatewayError(type, `${path}: ${message}`, { issues: [{ path, message }] });
}

/** The members of `error.metadata` for the caller. */
export function errorMetadata(error: GatewayError): JsonObject {
  const metadata: Record<string, Json | undefined> = { error_type: error.type, ...error.metadata };
  if (error.issues !== undefined) metadata['issues'] = error.issues.map(({ path, message }) => ({ path, message }));
  return metadata;
}
