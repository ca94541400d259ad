import type { ErrorType, GatewayError } from '../../../canonical/gateway-error.ts';
import { describeFailure, type UpstreamFailure } from '../../../canonical/failure/failure.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ErrorContext } from '../../format.ts';
import { errorServiceMetadata, publicError } from '../../gateway/error-body.ts';

/**
 * `error.code` of a response that failed. Clients decide by it: they wait and send again, make the history shorter, or
 * stop. What is not listed is the fault of the request. Never `server_is_overloaded`, which Codex takes for the end.
 */
const CODES: Partial<Readonly<Record<ErrorType, string>>> = {
  rate_limit_exceeded: 'rate_limit_exceeded',
  provider_overloaded: 'server_error',
  provider_unavailable: 'server_error',
  server: 'server_error',
  unmapped: 'server_error',
  timeout: 'server_error',
  context_length_exceeded: 'context_length_exceeded',
  token_limit_exceeded: 'context_length_exceeded',
  max_tokens_exceeded: 'context_length_exceeded',
  payment_required: 'insufficient_quota',
  invalid_image: 'invalid_image',
  image_too_large: 'image_too_large',
  image_too_small: 'image_too_small',
  unsupported_image_format: 'unsupported_image_media_type',
  image_download_failed: 'failed_to_download_image',
  image_not_found: 'image_file_not_found',
};
const FAULTY_REQUEST = 'invalid_prompt';

/** By this very sentence Codex finds that an image is bad, takes it out and goes on. Its protocol crate, read 2026-11 */
const BAD_IMAGE = 'The image data you provided does not represent a valid image';
const IMAGE_FAULTS: ReadonlySet<ErrorType> = new Set([
  'invalid_image',
  'image_too_large',
  'image_too_small',
  'unsupported_image_format',
  'image_download_failed',
]);

const MS_PER_S = 1_000;

/** Why a response failed, as its members `error` and `error_type`. */
export interface ResponseFailure {
  readonly type: ErrorType;
  readonly message: string;
  readonly param: string | null;
}

export function failureOf(error: GatewayError): ResponseFailure {
  const { type, issues, retryAfterMs } = error;
  const { message } = publicError(error, '');
  const param = issues?.[0]?.path ?? null;
  if (type !== 'rate_limit_exceeded' || retryAfterMs === undefined) return { type, message, param };
  // Codex finds the time by a pattern of these words.
  const waitS = Math.ceil((retryAfterMs / MS_PER_S) * 10) / 10;
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return { type, message: `${sentence} Please try again in ${waitS}s`, param };
}

/** Of a whole response that broke off. */
export function failureOfUpstream(failure: UpstreamFailure): ResponseFailure {
  return { type: failure.errorType, message: describeFailure(failure), param: null };
}

/** Its upstream ended the response with an error that it did not name. */
export const UNREPORTED_FAILURE: ResponseFailure = {
  type: 'provider_unavailable',
  message: 'The provider ended its response with an error.',
  param: null,
};

/** The model had nothing to say where a summary of the conversation was to be. */
export const NO_SUMMARY: ResponseFailure = {
  type: 'provider_unavailable',
  message: 'The model wrote no summary of the conversation.',
  param: null,
};

export function encodeFailure({ type, message, param }: ResponseFailure): JsonObject {
  return { code: CODES[type] ?? FAULTY_REQUEST, message, type, param };
}

/** The body of a response of an error status. */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const { code, message, metadata, availability } = publicError(error, context.baseUrl);
  const serviceMetadata = errorServiceMetadata(error, context.serviceMetadata);
  return {
    error: {
      code,
      message: IMAGE_FAULTS.has(error.type) ? `${BAD_IMAGE}. ${message}` : message,
      type: error.type,
      param: error.issues?.[0]?.path ?? null,
      metadata,
      ...(availability !== undefined && { availability }),
    },
    error_type: error.type,
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
    user_id: null,
  };
}
