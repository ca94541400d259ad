import type { ErrorType, GatewayError } from '../../../canonical/gateway-error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ErrorContext } from '../../format.ts';
import { errorServiceMetadata, publicError } from '../../gateway/error-body.ts';

/** @spec error-6 */
const VENDOR_TYPE: Partial<Readonly<Record<ErrorType, string>>> = {
  authentication: 'authentication_error',
  permission_denied: 'permission_error',
  payment_required: 'billing_error',
  not_found: 'not_found_error',
  image_not_found: 'not_found_error',
  rate_limit_exceeded: 'rate_limit_error',
  provider_overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  provider_unavailable: 'api_error',
  server: 'api_error',
  unmapped: 'api_error',
};

/** The vendor's `error.type`; a type that is not listed is one of the family of faulty requests. */
export function errorTypeOf(type: ErrorType): string {
  return VENDOR_TYPE[type] ?? 'invalid_request_error';
}

/** The error for a response that its upstream ended with an unspecified error. */
export const UPSTREAM_ERROR: JsonObject = {
  type: errorTypeOf('provider_unavailable'),
  message: 'The provider ended its response with an error.',
  code: 502,
  error_type: 'provider_unavailable',
};

/**
 * The vendor's envelope with the members of a chat error in it: one body that both readings accept.
 * @spec error-5
 */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const { code, message, metadata: all, availability } = publicError(error, context.baseUrl);
  // The vendor's clients look for the cause of an error there.
  const { details, ...metadata } = all;
  const serviceMetadata = errorServiceMetadata(error, context.serviceMetadata);
  return {
    type: 'error',
    error: {
      type: errorTypeOf(error.type),
      message,
      code,
      error_type: error.type,
      metadata,
      ...(details !== undefined && { details }),
      ...(availability !== undefined && { availability }),
    },
    request_id: context.generationId,
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
    user_id: null,
  };
}
