import type { UpstreamFailure } from './failure.ts';

/** A fault of the request is explained in the provider's own words; a fault of the provider is its own business. */
export function explains(failure: UpstreamFailure): boolean {
  return failure.status < 500 && failure.status !== 408 && failure.upstreamMessage !== undefined;
}

/** What a caller is told of a failure, however the answer is delivered. */
export function describeFailure(failure: UpstreamFailure): string {
  return explains(failure) ? `${failure.message} It said: ${failure.upstreamMessage}` : failure.message;
}
