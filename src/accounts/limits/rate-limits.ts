import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Usage } from '../../canonical/usage.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RateLimitState, Permit, PermitResult, PermitRequest, Rate, RateRefusal } from '../../state/contract.ts';
import type { Principal } from '../principal.ts';

/** Limits on requests and tokens. An absent member does not limit. */
export interface RateLimit {
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
  readonly tokensPerMinute?: number;
  /** Concurrent requests. */
  readonly concurrent?: number;
}

/** The properties of a request that its rate depends on. */
export interface RatedRequest {
  readonly generationId: string;
  /** Estimates the tokens, at least 1. Only called where tokens are limited. */
  readonly promptTokens: () => number;
  /** The model is free by its name (`:free`). */
  readonly isFree: boolean;
  /** The request serves another running request: with a low limit it would wait for its own parent. Absent: no. */
  readonly isNested?: boolean;
  /** The request counts as concurrent already (`enter`); whether it counts among free ones is not known before. */
  readonly hasPlace?: boolean;
  /** It counts among the requests of its minute and day already: only its tokens are counted. */
  readonly isCounted?: boolean;
}

/** A request that was admitted. */
export interface RequestPermit {
  /** Runs when the request has ended. Only the first call counts. Never rejects. */
  ended(usage: Pick<Usage, 'promptTokens' | 'completionTokens'> | undefined): Promise<void>;
}

/** A request that is not admitted yet. */
export interface PendingPermit {
  /** What it takes of all limits: another step may send it to the rate limiter together with its own request. */
  readonly requested: PermitRequest;
  /**
   * @param answer the rate limiter's result. Absent: this call asks for it
   * @throws GatewayError 429
   */
  acquire(answer?: PermitResult): Promise<RequestPermit>;
}

export interface RateLimiter {
  /**
   * Counts a request as concurrent before its body is read. `undefined`: no limit applies.
   * @throws GatewayError 429
   * @spec rate-3
   */
  enter(principal: Principal, generationId: string): Promise<RequestPermit> | undefined;
  /** Returns `undefined` where no limit applies. */
  admit(principal: Principal, request: RatedRequest): PendingPermit | undefined;
}

export interface RateLimiterDeps {
  readonly rateLimitState: RateLimitState;
  readonly clock: Clock;
  /** Limits of each key, of the account, and of all requests for `:free` models together. @spec rate-1 */
  readonly limits: { readonly key: RateLimit; readonly account: RateLimit; readonly free: RateLimit };
  /** Longer than any request: the permit of a dead process is free again after it. */
  readonly slotMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** When a concurrent request will end is unknown, so clients retry after this. */
const SLOT_RETRY_MS = 1_000;

interface Bounded {
  readonly subject: string;
  readonly whose: string;
  readonly limit: RateLimit;
  /** The limit applies to free models alone, which only the request body shows. */
  readonly isOfFree?: boolean;
}

export function createRateLimiter(deps: RateLimiterDeps): RateLimiter {
  const { limits } = deps;
  const isOff = [limits.key, limits.account, limits.free].every((limit) => Object.keys(limit).length === 0);
  const places = { key: slotsOf(limits.key), account: slotsOf(limits.account), free: {} };
  const hasPlaces = places.key.concurrent !== undefined || places.account.concurrent !== undefined;
  return {
    enter(principal, generationId) {
      if (!hasPlaces) return undefined;
      const request: RatedRequest = { generationId, promptTokens: () => 1, isFree: false };
      return admit(deps, boundedBy(places, principal, request), request).acquire();
    },
    admit(principal, request) {
      if (isOff) return undefined;
      const bounded = boundedBy(limits, principal, request);
      const pending = admit(deps, bounded, request);
      const { slots, rates } = pending.requested;
      return slots === undefined && rates.length === 0 ? undefined : pending;
    },
  };
}

function slotsOf({ concurrent }: RateLimit): RateLimit {
  return concurrent === undefined ? {} : { concurrent };
}

function boundedBy(
  limits: RateLimiterDeps['limits'],
  { keyHash, rootKeyHash, accountId }: Principal,
  { isFree }: RatedRequest,
): readonly Bounded[] {
  const all: readonly Bounded[] = [
    rootKeyHash === undefined
      ? { subject: `key:${keyHash}`, whose: 'this API key', limit: limits.key }
      : { subject: `key:${rootKeyHash}`, whose: 'this API key and the key that issued it', limit: limits.key },
    { subject: `account:${accountId}`, whose: 'the account', limit: limits.account },
    ...(isFree ? [{ subject: `free:${accountId}`, whose: 'free models', limit: limits.free, isOfFree: true }] : []),
  ];
  return all.filter(({ limit }) => Object.keys(limit).length > 0);
}

function admit(
  deps: RateLimiterDeps,
  bounded: readonly Bounded[],
  { generationId: id, promptTokens, isNested = false, hasPlace = false, isCounted = false }: RatedRequest,
): PendingPermit {
  const { rateLimitState, clock, slotMs: expiresInMs } = deps;
  const subjects = bounded.flatMap(({ subject, limit: { concurrent }, isOfFree = false }) =>
    concurrent === undefined || isNested || (hasPlace && !isOfFree) ? [] : [{ subject, limit: concurrent }],
  );
  const rates = bounded.flatMap((each) => ratesOf(each, promptTokens, isCounted));
  const requested: PermitRequest = {
    ...(subjects.length > 0 && { slots: { id, expiresInMs, subjects } }),
    rates: rates.map(({ rate }) => rate),
  };
  return {
    requested,
    async acquire(given) {
      const answer = given ?? (await rateLimitState.acquire(requested));
      if (answer.ok) return permitOf(answer.permit, rates);
      if (answer.by === 'slots') throw tooManyAtOnce(bounded, answer.subject, clock);
      const refused = rates.find(({ rate }) => rate.subject === answer.subject);
      throw tooFast(refused?.words ?? 'A limit is reached', answer, clock);
    },
  };
}

function permitOf(permit: Permit, rates: readonly NamedRate[]): RequestPermit {
  return {
    ended(usage) {
      const tokens = (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0);
      const counted = rates.filter(({ isOfTokens }) => isOfTokens);
      return permit.end(new Map(counted.map(({ rate }) => [rate.subject, tokens])));
    },
  };
}

interface NamedRate {
  readonly rate: Rate;
  /** The subject and the unit of the limit, for the message. */
  readonly words: string;
  readonly isOfTokens: boolean;
}

function ratesOf(
  { subject, whose, limit }: Bounded,
  promptTokens: () => number,
  isCounted: boolean,
): readonly NamedRate[] {
  const { requestsPerMinute, requestsPerDay, tokensPerMinute } = limit;
  const rates: NamedRate[] = [];
  const add = (name: string, unit: string, max: number | undefined, periodMs: number, take: () => number): void => {
    if (max === undefined) return;
    rates.push({
      rate: { owner: subject, subject: `${subject}:${name}`, limit: max, periodMs, take: take() },
      words: `The limit of ${whose} is reached: ${max} ${unit}`,
      isOfTokens: name === 'tokens',
    });
  };
  // The first refusal sets the retry time: a caller with a used-up day should not retry after a minute.
  if (!isCounted) {
    add('day', 'requests a day', requestsPerDay, DAY_MS, () => 1);
    add('minute', 'requests a minute', requestsPerMinute, MINUTE_MS, () => 1);
  }
  add('tokens', 'tokens a minute', tokensPerMinute, MINUTE_MS, promptTokens);
  return rates;
}

function tooManyAtOnce(bounded: readonly Bounded[], full: string, clock: Clock): GatewayError {
  const refusing = bounded.find(({ subject }) => subject === full);
  assert(refusing?.limit.concurrent !== undefined, 'a refusal names one of the limits');
  const {
    whose,
    limit: { concurrent: limit },
  } = refusing;
  return new GatewayError('rate_limit_exceeded', `The limit of ${whose} is reached: ${limit} under way at a time.`, {
    retryAfterMs: SLOT_RETRY_MS,
    rateLimit: { limit, remaining: 0, resetAtMs: clock.nowMs() + SLOT_RETRY_MS },
  });
}

/** @param words the subject and the unit of the limit */
export function tooFast(words: string, answer: RateRefusal, clock: Clock): GatewayError {
  const { limit, remaining, retryAfterMs } = answer;
  return new GatewayError('rate_limit_exceeded', `${words}, of which ${remaining} are left.`, {
    retryAfterMs,
    rateLimit: { limit, remaining, resetAtMs: Math.ceil(clock.nowMs() + retryAfterMs) },
  });
}
