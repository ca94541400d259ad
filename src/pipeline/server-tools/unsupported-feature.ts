import { GatewayError } from '../../canonical/gateway-error.ts';

/**
 * Makes a 400 that names a valid but unsupported feature: a caller must never take an ignored setting for an applied one.
 * @spec request-16
 */
export function unsupportedFeature(path: string, what: string): GatewayError {
  const message = `${what} is valid but not supported by this version of the gateway`;
  return new GatewayError('invalid_request', `${path}: ${message}.`, { issues: [{ path, message }] });
}
