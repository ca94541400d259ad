import { type UpstreamFailure, describeFailure } from '../../../canonical/failure/failure.ts';
import { STATUS_OF_ERROR_TYPE, type GatewayError } from '../../../canonical/gateway-error.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { ErrorContext } from '../../format.ts';
import { errorServiceMetadata, publicError } from '../../gateway/error-body.ts';

/** The error body of this format. @spec error-1 */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const serviceMetadata = errorServiceMetadata(error, context.serviceMetadata);
  return {
    error: { ...publicError(error, context.baseUrl) },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
    user_id: null,
  };
}

/** Encodes an upstream's failure in a response. @spec chat-response-13, stream-20 */
export function encodeFailure(failure: UpstreamFailure): JsonObject {
  const { status, errorType, providerCode } = failure;
  // No code of the provider with a fault of the "server" class.
  const reported = providerCode !== undefined && errorType !== 'server';
  return {
    code: status,
    message: describeFailure(failure),
    metadata: { error_type: errorType, ...(reported && { provider_code: providerCode }) },
  };
}

/** The error of a response that its upstream ended with an unspecified error. @spec chat-response-13 */
export const UNREPORTED_ERROR: JsonObject = {
  code: STATUS_OF_ERROR_TYPE.provider_unavailable,
  message: 'The provider ended its response with an error.',
  metadata: { error_type: 'provider_unavailable' },
};
