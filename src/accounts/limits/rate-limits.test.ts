import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createMemoryState } from '../../state/memory/state.ts';
import { createRateLimiter, type RateLimit, type RateLimiter } from './rate-limits.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';

const NOON_MS = Date.parse('2026-11-25T12:00:00Z');
const principal = samplePrincipal();
const other = samplePrincipal({ keyHash: 'b'.repeat(64) });

const clock = { nowMs: () => NOON_MS, monotonicMs: () => performance.now() };
let ids = 0;

function open(limits: {
  readonly key?: RateLimit;
  readonly account?: RateLimit;
  readonly free?: RateLimit;
}): RateLimiter {
  const { rateLimitState } = createMemoryState({ clock, textBytesMax: 0 });
  return createRateLimiter({
    rateLimitState,
    clock,
    limits: { key: {}, account: {}, free: {}, ...limits },
    slotMs: 60_000,
  });
}

function request(changes: { readonly tokens?: number; readonly isFree?: boolean } = {}) {
  return { generationId: `gen-${++ids}`, promptTokens: () => changes.tokens ?? 1, isFree: changes.isFree ?? false };
}

const used = (promptTokens: number) => ({ promptTokens, completionTokens: 0 });

async function pass(admitted: ReturnType<RateLimiter['admit']>) {
  assert.ok(admitted !== undefined, 'a limit counts what passes');
  return admitted.acquire();
}

async function refusal(admitted: ReturnType<RateLimiter['admit']>): Promise<GatewayError> {
  try {
    await admitted?.acquire();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
  return assert.fail('it was let through');
}

suite('rate limits', () => {
  beforeEach(() => {
    ids = 0;
  });

  test('admits requests without limits at once', () => {
    assert.equal(open({}).admit(principal, request()), undefined);
  });

  // @spec responses-121
  test('counts a run in the background by its tokens alone: as a request it counted when it was accepted', async () => {
    const limiter = open({ key: { requestsPerMinute: 1, tokensPerMinute: 10 } });
    await pass(limiter.admit(principal, request()));
    const run = { ...request({ tokens: 6 }), isCounted: true };
    await pass(limiter.admit(principal, run));
    const further = limiter.admit(principal, { ...request({ tokens: 6 }), isCounted: true });
    assert.equal((await refusal(further)).status, 429);
    assert.equal(open({ key: { requestsPerMinute: 1 } }).admit(principal, run), undefined);
  });

  // @spec rate-1
  test('refuses one request more a minute with 429, and says when to retry', async () => {
    const limiter = open({ key: { requestsPerMinute: 2 } });
    await pass(limiter.admit(principal, request()));
    await pass(limiter.admit(principal, request()));
    const error = await refusal(limiter.admit(principal, request()));
    assert.deepEqual([error.status, error.type], [429, 'rate_limit_exceeded']);
    assert.match(error.message, /^The limit of this API key is reached: 2 requests a minute, of which 0 are left\.$/);
    const { retryAfterMs = 0, rateLimit } = error;
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 60_000, `${retryAfterMs}`);
    assert.deepEqual([rateLimit?.limit, rateLimit?.remaining], [2, 0]);
    assert.equal(rateLimit?.resetAtMs, Math.ceil(NOON_MS + retryAfterMs));
  });

  test('tells a caller with a used-up minute and day to retry after the day', async () => {
    const limiter = open({ key: { requestsPerMinute: 1, requestsPerDay: 1 } });
    await pass(limiter.admit(principal, request()));
    const { message, retryAfterMs = 0 } = await refusal(limiter.admit(principal, request()));
    assert.match(message, /1 requests a day/);
    assert.ok(retryAfterMs > 3_600_000, `${retryAfterMs}`);
  });

  // @spec rate-1
  test('counts each key separately, and the account for all keys', async () => {
    const limiter = open({ key: { requestsPerMinute: 2 }, account: { requestsPerDay: 3 } });
    for (const caller of [principal, principal, other]) await pass(limiter.admit(caller, request()));
    assert.match(
      (await refusal(limiter.admit(other, request()))).message,
      /of the account is reached: 3 requests a day/,
    );
    assert.match((await refusal(limiter.admit(principal, request()))).message, /of this API key/);
  });

  // @spec rate-5
  test('does not count in one limit what another limit refuses', async () => {
    const limiter = open({ key: { requestsPerMinute: 1 }, account: { requestsPerMinute: 2 } });
    await pass(limiter.admit(principal, request()));
    for (let round = 0; round < 5; round++) await refusal(limiter.admit(principal, request()));
    await pass(limiter.admit(other, request()));
  });

  // @spec rate-4
  test('counts tokens by estimate at first, and by actual usage at the end', async () => {
    const limiter = open({ key: { tokensPerMinute: 100 } });
    const permit = await pass(limiter.admit(principal, request({ tokens: 60 })));
    await refusal(limiter.admit(principal, request({ tokens: 60 })));
    await permit.ended(used(30));
    const next = await pass(limiter.admit(principal, request({ tokens: 60 })));
    await next.ended(used(500));
    assert.match((await refusal(limiter.admit(principal, request({ tokens: 1 })))).message, /100 tokens a minute/);
  });

  test('counts a running request as concurrent until it ends', async () => {
    const limiter = open({ key: { concurrent: 1 } });
    const permit = await pass(limiter.admit(principal, request()));
    const error = await refusal(limiter.admit(principal, request()));
    assert.deepEqual([error.status, error.retryAfterMs], [429, 1_000]);
    assert.match(error.message, /1 under way at a time/);
    await pass(limiter.admit(other, request()));
    await permit.ended(undefined);
    await pass(limiter.admit(principal, request()));
  });

  // @spec rate-7
  test('takes no concurrency from a nested request, and makes no call where nothing else is limited', async () => {
    const limiter = open({ key: { concurrent: 1 } });
    await pass(limiter.admit(principal, request()));
    assert.equal(limiter.admit(principal, { ...request(), isNested: true }), undefined);
  });

  test('frees the concurrency of a request that a rate refuses', async () => {
    const limiter = open({ key: { concurrent: 1, requestsPerMinute: 1 } });
    const permit = await pass(limiter.admit(principal, request()));
    await permit.ended(undefined);
    for (let round = 0; round < 3; round++)
      assert.match((await refusal(limiter.admit(principal, request()))).message, /requests a minute/);
  });

  // @spec rate-6
  test('counts models that are free by name separately, over all keys', async () => {
    const limiter = open({ free: { requestsPerMinute: 1 } });
    assert.equal(limiter.admit(principal, request()), undefined);
    await pass(limiter.admit(principal, request({ isFree: true })));
    assert.match((await refusal(limiter.admit(other, request({ isFree: true })))).message, /of free models/);
    assert.equal(limiter.admit(other, request()), undefined);
  });
});
