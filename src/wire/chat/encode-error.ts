import type { GatewayError } from '../../canonical/gateway-error.ts';
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
