import { systemClock } from '../../../src/lib/clock.ts';
import { createMemoryRateLimits } from '../../../src/state/memory/rate-limits.ts';
import { RedisRateLimits } from '../../../src/state/redis/rate-limits.ts';
import type { RedisLink } from '../../../src/state/redis/link.ts';

export function openRateLimits(link: RedisLink, prefix: string): RedisRateLimits {
  return new RedisRateLimits({
    link,
    prefix,
    clock: systemClock,
    local: createMemoryRateLimits({ clock: systemClock }),
  });
}
