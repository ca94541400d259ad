import type { GatewayError } from '../../canonical/gateway-error.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ErrorContext } from '../format.ts';
import { errorServiceMetadata, publicError } from '../gateway/error-body.ts';

/** The error body of calls that are no generation: clients of the vendor's form read `type` and `param`, too. */
export function encodeOperationError(error: GatewayError, context: ErrorContext): JsonObject {
  const serviceMetadata = errorServiceMetadata(error, context.serviceMetadata);
  return {
    error: { ...publicError(error, context.baseUrl), type: error.type, param: error.issues?.[0]?.path ?? null },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
    user_id: null,
  };
}

/** The last event of a stream of speech or of a transcript that fails. */
export function encodeErrorEvent({ type, status, message }: GatewayError): string {
  return `data: ${JSON.stringify({ type: 'error', error: { code: status, message, type } })}\n\n`;
}
