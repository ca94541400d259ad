import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RateLimitState } from '../../state/contract.ts';
import type { Principal } from '../principal.ts';
import { tooFast } from './rate-limits.ts';

/** @spec router-37: 30 per minute per key, 500 per day per account */
const KEY_REQUESTS_MAX = 30;
const ACCOUNT_REQUESTS_MAX = 500;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Counts a request for statistics. @throws GatewayError 429 after too many */
export type CountAnalyticsRequest = (principal: Principal) => Promise<void>;

export function createAnalyticsRateLimit({
  rateLimitState,
  clock,
}: {
  readonly rateLimitState: RateLimitState;
  readonly clock: Clock;
}): CountAnalyticsRequest {
  return async ({ keyHash, accountId }) => {
    const [key, account] = [`insights:key:${keyHash}`, `insights:account:${accountId}`];
    const rates = [
      { owner: key, subject: `${key}:minute`, limit: KEY_REQUESTS_MAX, periodMs: MINUTE_MS, take: 1 },
      { owner: account, subject: `${account}:day`, limit: ACCOUNT_REQUESTS_MAX, periodMs: DAY_MS, take: 1 },
    ];
    const answer = await rateLimitState.acquire({ rates });
    if (answer.ok) return;
    assert(answer.by === 'rates', 'a request for no slot is refused none');
    const [whose, per] = answer.subject.startsWith(key) ? ['this API key', 'minute'] : ['the account', 'day'];
    throw tooFast(`The limit of ${whose} is reached: ${answer.limit} looks at statistics a ${per}`, answer, clock);
  };
}
