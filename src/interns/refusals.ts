import { GatewayError } from '../canonical/gateway-error.ts';

export function noSuchIntern(): GatewayError {
  return new GatewayError('not_found', 'There is no such intern.');
}

export function noSuch(what: string): GatewayError {
  return new GatewayError('not_found', `There is no such ${what}.`);
}

export function conflict(reason: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { status: 409, metadata: { reason } });
}

export function notYours(): GatewayError {
  return new GatewayError(
    'permission_denied',
    'Only the key that made the intern, an admin of its workspace, or a management key may do this.',
  );
}

export function nameIsTaken(): GatewayError {
  return conflict('name_taken', 'You have an intern of this name in the workspace: choose another name.');
}

export function otherBody(): GatewayError {
  return conflict('idempotency_key_reused', 'This Idempotency-Key was used with another body: send another key.');
}

export function runInProgress(): GatewayError {
  return conflict('run_in_progress', 'A run of this session is under way: wait for its end, or cancel it.');
}

export function callIsGone(): GatewayError {
  return conflict('idempotency_key_reused', 'What this Idempotency-Key made is gone: send another key.');
}

export function notPending(): GatewayError {
  return conflict('not_pending', 'Nothing waits for a decision on this call: it was answered, or its run is over.');
}
