import type { UpstreamFailure } from '../../canonical/failure.ts';
import { wordsOfFailure } from '../../canonical/failure-words.ts';
import { STATUS_OF_ERROR_TYPE, type GatewayError } from '../../canonical/gateway-error.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ErrorContext } from '../format.ts';
import { errorServiceMetadata, publicError } from '../gateway/error-body.ts';

/** The error body of this format. @source seed 2.5, generation.md 8.1 */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const serviceMetadata = errorServiceMetadata(error, context.serviceMetadata);
  return {
    error: { ...publicError(error, context.baseUrl) },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
    user_id: null,
  };
}

/** What an answer tells of its upstream's failure. @source generation.md 6.1 `error`, 6.7, 8.2 */
export function encodeFailure(failure: UpstreamFailure): JsonObject {
  const { status, errorType, providerCode } = failure;
  // No code of the provider with a fault of the "server" class.
  const told = providerCode !== undefined && errorType !== 'server';
  return {
    code: status,
    message: wordsOfFailure(failure),
    metadata: { error_type: errorType, ...(told && { provider_code: providerCode }) },
  };
}

/** What an answer says that its upstream ended with an error, without saying which. @source generation.md C.4 */
export const UNTOLD_ERROR: JsonObject = {
  code: STATUS_OF_ERROR_TYPE.provider_unavailable,
  message: 'The provider ended its answer with an error.',
  metadata: { error_type: 'provider_unavailable' },
};
