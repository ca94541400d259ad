import { GatewayError, invalid, withMetadata } from '../canonical/gateway-error.ts';

const KEY = 'responses.store';

/** One text for what is unknown, of another key, deleted or expired: it must not tell which. */
export function noSuchResponse(): GatewayError {
  return new GatewayError(
    'not_found',
    'There is no such response: it is unknown here, was not kept, was deleted, or has expired.',
  );
}

export function nothingIsKept(): GatewayError {
  return new GatewayError('not_found', `Responses are not kept here: the configuration key ${KEY} is "off".`);
}

export function cannotContinue(): GatewayError {
  const message =
    'names no response that can be continued: it is unknown here, was not kept, was deleted, or has expired. Send the whole conversation as input';
  return withMetadata(invalid('previous_response_id', message), { reason: 'previous_response_not_found' });
}

export function cannotContinueAny(): GatewayError {
  const message = `cannot be used, because responses are not kept here: the configuration key ${KEY} is "off". Send the whole conversation as input`;
  return withMetadata(invalid('previous_response_id', message), { reason: 'previous_response_not_found' });
}

/** @param steps back from the response that was named, at least 1 */
export function brokenChain(steps: number): GatewayError {
  return invalid(
    'previous_response_id',
    `continues a response that is not kept any more, ${steps} steps before it. Send the whole conversation as input`,
  );
}

export function unfinished(): GatewayError {
  return invalid('previous_response_id', 'names a response that has not ended yet');
}

export function chainTooLong(linksMax: number): GatewayError {
  return invalid('previous_response_id', `continues more than ${linksMax} responses: begin a new conversation`);
}

export function chainTooLarge(bytesMax: number): GatewayError {
  return invalid(
    'previous_response_id',
    `continues a conversation of more than ${bytesMax} bytes: begin a new conversation, or compact this one`,
  );
}

export function cannotKeep(why: string): GatewayError {
  return invalid('store', `cannot be true: ${why}`);
}

export const OFF_IN_CONFIGURATION = `the configuration key ${KEY} is "off"`;

/** The store is away: what is kept there may well exist. */
export function storeIsAway(cause: unknown): GatewayError {
  return new GatewayError('provider_overloaded', 'Kept responses cannot be read at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}

export function notInBackground(): GatewayError {
  return new GatewayError('invalid_request', 'Only a response that runs in the background can be cancelled.');
}

/** @param why it cannot run in the background */
export function noBackground(why: string): GatewayError {
  return invalid('background', `cannot be true: ${why}`);
}

export const NO_BACKGROUND_IN_CONFIGURATION =
  'responses do not run in the background here, which takes the configuration keys responses.store "database" and responses.background true';

export function eventsAreGone(): GatewayError {
  return invalid(
    'starting_after',
    'cannot be resumed: the events of this response are not kept, or not any more. Leave it out',
  );
}

export const WITHOUT_RUN = new GatewayError('server', 'The gateway has lost the run of this response.');
