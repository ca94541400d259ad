import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { JsonObject } from '../../lib/json.ts';

/** What the format of this endpoint cannot say may be sayable in the next one's: it is a failure of this attempt alone. */
export function tryEncode<Encoded>(encode: () => Encoded): Encoded | UpstreamFailure {
  try {
    return encode();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { type: errorType, status, message, issues } = error;
    return { kind: 'unsayable', errorType, status, message, mayTry: 'next-endpoint', ...(issues && { issues }) };
  }
}

/** A body with the members that the caller has for this provider alone: they win. */
export function withOptions<Encoded extends { readonly body: JsonObject }>(
  encoded: Encoded,
  options: JsonObject,
): Encoded {
  return Object.keys(options).length === 0 ? encoded : { ...encoded, body: { ...encoded.body, ...options } };
}
