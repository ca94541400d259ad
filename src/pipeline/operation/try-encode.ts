import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { JsonObject } from '../../lib/json.ts';
import { withOptions, type ProviderOptions } from '../../wire/provider-options.ts';

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

/** With the members in its body that the caller has for this provider alone. @throws GatewayError 400 */
export function addOptions<Encoded extends { readonly body: JsonObject }>(
  encoded: Encoded,
  options: ProviderOptions,
): Encoded {
  return { ...encoded, body: withOptions(encoded.body, options) };
}
