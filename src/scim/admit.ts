import type { Clock } from '../lib/clock.ts';
import type { RateLimitState } from '../state/contract.ts';
import { ScimError } from './scim-error.ts';
import type { ScimTokenRow, ScimTokens } from './tokens.ts';

/** A provider's first cycle is as fast: 25 a second, a hundred at once. @spec scim-2 */
const CALLS_MAX = 100;
const CALLS_PERIOD_MS = 4_000;
const REFUSED_PER_ADDRESS_MAX = 20;
const REFUSED_PERIOD_MS = 60_000;
const SCHEME = /^bearer\s+(\S+)$/i;

/** Finds the token of a request. @throws ScimError 401, 429 */
export function createScimAdmission({
  tokens,
  rateLimitState,
}: {
  readonly tokens: Pick<ScimTokens, 'admit'>;
  readonly rateLimitState: RateLimitState;
  readonly clock: Clock;
}): (authorization: string | undefined, address: string) => Promise<ScimTokenRow> {
  const take = async (owner: string, limit: number, periodMs: number): Promise<void> => {
    const rates = [{ owner, subject: `${owner}:calls`, limit, periodMs, take: 1 }];
    if (!(await rateLimitState.acquire({ rates })).ok)
      throw new ScimError(429, 'Too many requests. Try again in a moment.');
  };
  return async (authorization, address) => {
    const [, token = ''] = SCHEME.exec(authorization ?? '') ?? [];
    const row = await tokens.admit(token, address);
    if (row === undefined) {
      await take(`scim:refused:${address}`, REFUSED_PER_ADDRESS_MAX, REFUSED_PERIOD_MS);
      throw new ScimError(401, 'Send a token of POST /v1/scim/tokens as "Authorization: Bearer <TOKEN>".');
    }
    await take(`scim:token:${row.id}`, CALLS_MAX, CALLS_PERIOD_MS);
    return row;
  };
}
