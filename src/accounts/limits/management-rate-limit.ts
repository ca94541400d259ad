import type { Authenticate } from '../keys/authenticate.ts';
import type { Principal } from '../principal.ts';
import type { RateLimiter } from './rate-limits.ts';

/** A call that is no generation has no tokens and no end, unlike a generation. */
const ONE_CALL = { generationId: '', promptTokens: () => 1, isFree: false } as const;

/**
 * Authenticates a caller, and limits the rate of management keys, whatever they call.
 * @throws GatewayError 401, 429
 * @spec rate-9
 */
export function limitManagement(authenticate: Authenticate, limiter: RateLimiter): Authenticate {
  const admit = (principal: Principal): Principal | Promise<Principal> => {
    const pending = principal.kind === 'management' ? limiter.admit(principal, ONE_CALL) : undefined;
    return pending === undefined ? principal : pending.acquire().then(() => principal);
  };
  return (headers, options) => {
    const principal = authenticate(headers, options);
    return principal instanceof Promise ? principal.then(admit) : admit(principal);
  };
}

/** Counts calls of normal keys that are no generations among the requests of the key. */
export function countCallsBy(limiter: RateLimiter): (principal: Principal) => Promise<void> {
  return async (principal) => {
    const pending = limiter.admit(principal, ONE_CALL);
    if (pending !== undefined) await (await pending.acquire()).ended(undefined);
  };
}
