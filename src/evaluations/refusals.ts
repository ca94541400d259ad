import { GatewayError } from '../canonical/gateway-error.ts';

export function noSuch(what: string): GatewayError {
  return new GatewayError('not_found', `There is no such ${what}.`);
}

export function conflict(reason: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { status: 409, metadata: { reason } });
}
