import type { Redis } from 'ioredis';
import type { RateLimiterAbstract, RateLimiterRedis } from 'rate-limiter-flexible';
import { addTo, type UseCounter } from './rates.ts';
import type { RedisLink } from './redis-link.ts';

export interface RedisCounterParts {
  readonly link: RedisLink;
  readonly prefix: string;
}

/** Counts that all processes share. @throws RedisAway */
export function createRedisCounter({ link, prefix }: RedisCounterParts): UseCounter {
  let library: Promise<{ readonly RateLimiterRedis: typeof RateLimiterRedis }> | undefined;
  const limiters = new WeakMap<Redis, RateLimiterAbstract>();
  return {
    async add(subject, uses, periodMs) {
      library ??= import('rate-limiter-flexible');
      const { RateLimiterRedis: Limiter } = await library;
      return link.call((client) => {
        const limiter =
          limiters.get(client) ??
          new Limiter({
            storeClient: client,
            keyPrefix: `${prefix}rate`,
            points: Number.MAX_SAFE_INTEGER,
            duration: 60,
          });
        limiters.set(client, limiter);
        return addTo(limiter, subject, uses, periodMs);
      });
    },
  };
}
