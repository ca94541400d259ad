import { systemClock } from '../../lib/clock.ts';
import { createMemoryGate } from './memory-gate.ts';
import { RedisGate } from './redis-gate.ts';
import type { RedisLink } from './redis-link.ts';

export function openGate(link: RedisLink, prefix: string): RedisGate {
  return new RedisGate({ link, prefix, clock: systemClock, local: createMemoryGate({ clock: systemClock }) });
}
