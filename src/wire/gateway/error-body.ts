import { errorMetadata } from '../../canonical/gateway-error.ts';
import type { Availability, GatewayError } from '../../canonical/gateway-error.ts';
import type { JsonObject } from '../../lib/json.ts';

/** What a caller learns of an error, before a format wraps it in its envelope. @spec error-1 */
export interface PublicError {
  /** The HTTP status. */
  readonly code: number;
  readonly message: string;
  readonly metadata: JsonObject;
  readonly availability?: JsonObject;
}

/** The whole message that a caller gets for a fault of ours: the cause is for the operator's log. @spec error-4 */
const SERVER_ERROR_MESSAGE = 'The gateway failed to handle this request. The fault is not in the request.';

/** @param baseUrl the address whose `/errors` page explains availability codes: `http://host:port/v1` */
export function publicError(error: GatewayError, baseUrl: string): PublicError {
  if (error.status === 500) return { code: 500, message: SERVER_ERROR_MESSAGE, metadata: { error_type: error.type } };
  return {
    code: error.status,
    message: error.message,
    metadata: errorMetadata(error),
    ...(error.availability !== undefined && { availability: encodeAvailability(error.availability, baseUrl) }),
  };
}

/** The `service_metadata` beside an error: a 500 never carries any. @spec error-4, metadata-2 */
export function errorServiceMetadata(
  error: GatewayError,
  serviceMetadata: JsonObject | undefined,
): JsonObject | undefined {
  return error.status === 500 ? undefined : serviceMetadata;
}

/** @spec error-21: members that are not set are left out */
export function encodeAvailability(availability: Availability, baseUrl: string): JsonObject {
  const { code, retryable, requestedModels, retryAfterS, affectedProviders, excludedBy, constraint } = availability;
  return {
    code,
    retryable,
    requested_models: requestedModels,
    docs_url: `${baseUrl}/errors#${code}`,
    ...(retryAfterS !== undefined && { retry_after: retryAfterS }),
    ...(affectedProviders !== undefined && { affected_providers: affectedProviders }),
    ...(excludedBy !== undefined && { excluded_by: excludedBy }),
    ...(constraint !== undefined && { constraint: { field: constraint.field, detail: constraint.detail } }),
  };
}
