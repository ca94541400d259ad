import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { assert } from '../../lib/assert.ts';
import type { RedisStep } from './gathered-steps.ts';
import { addTo, type UseCounter } from './rates.ts';
import type { RedisLink } from './redis-link.ts';

export interface RedisCounterParts {
  readonly link: RedisLink;
  readonly prefix: string;
}

/** Counts that all processes share. @throws RedisAway */
export function createRedisCounter({ link, prefix }: RedisCounterParts): UseCounter {
  let limiter: Promise<RateLimiterAbstract> | undefined;
  const load = async (): Promise<RateLimiterAbstract> => {
    const { RateLimiterRedis } = await import('rate-limiter-flexible');
    return new RateLimiterRedis({
      storeClient: gathering(link),
      keyPrefix: `${prefix}rate`,
      points: Number.MAX_SAFE_INTEGER,
      duration: 60,
    });
  };
  return {
    async add(subject, uses, periodMs) {
      limiter ??= load();
      return addTo(await limiter, subject, uses, periodMs);
    },
  };
}

/** What the library uses of a client: it defines one command, by its own script, and calls it. Its calls travel with others. */
function gathering(link: RedisLink) {
  let step: RedisStep | undefined;
  return {
    defineCommand(_name: string, { lua }: { readonly lua: string }): void {
      step = { lua };
    },
    rlflxIncr([key = '', ...values]: readonly string[]): Promise<unknown> {
      assert(step !== undefined, 'the library has defined what it calls');
      return link.run(step, [key], values);
    },
  };
}
