import { GatewayError } from '../../canonical/gateway-error.ts';

/**
 * A 400 that names what is valid and not built: a caller must never think that a wish was granted that was only ignored.
 * @spec request-16
 */
export function notBuilt(path: string, what: string): GatewayError {
  const message = `${what} is valid but not supported by this version of the gateway`;
  return new GatewayError('invalid_request', `${path}: ${message}.`, { issues: [{ path, message }] });
}
