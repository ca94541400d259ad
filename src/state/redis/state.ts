import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from '../contract.ts';
import { ALONE_SPENT_LIFE_MS, SPENT_LIFE_MS } from '../reservation-bounds.ts';
import { createMemoryRateLimits } from '../memory/rate-limits.ts';
import { createMemoryReservations } from '../memory/reservations.ts';
import { RedisRateLimits } from './rate-limits.ts';
import { RedisReservations } from './reservations.ts';
import { createRedisLink, type RedisLink, type RedisLinkOptions } from './link.ts';
import { createRedisInvalidationBus } from './invalidation-bus.ts';
import { createRedisTexts } from './text-cache.ts';
import { createRedisValues } from './shared-values.ts';
import { ResilientReservations } from './resilient-reservations.ts';

/** Processes with one prefix share their state. */
export interface RedisStateDeps extends RedisLinkOptions {
  readonly clock: Clock;
  /** What all kept texts of all processes may take together. 0 keeps none. */
  readonly textBytesMax: number;
}

/** Nobody misses what is not said: only this tells a quiet connection from a dead one. */
const LISTEN_CHECK_MS = 1_000;

/**
 * State that all processes share which are given the same Redis. While it is away each goes on with its own, and nothing
 * waits for it. Settles when Redis is there or the first try has failed.
 */
export async function openRedisState(deps: RedisStateDeps): Promise<SharedState> {
  const { clock, url, prefix, textBytesMax } = deps;
  const link = await createRedisLink(deps);
  const listening = await createRedisLink({ url, prefix });
  const rateLimitState = new RedisRateLimits({ link, prefix, clock, local: createMemoryRateLimits({ clock }) });
  const shared = new RedisReservations({ link, prefix, rateLimitState, spentLifeMs: SPENT_LIFE_MS });
  const local = createMemoryReservations({ clock, spentLifeMs: ALONE_SPENT_LIFE_MS });
  const state: SharedState = {
    reservations: new ResilientReservations(shared, local, link),
    rateLimitState,
    invalidations: createRedisInvalidationBus({ link, listening, prefix }),
    values: createRedisValues({ link, prefix }),
    texts: createRedisTexts({ link, prefix, bytesMax: textBytesMax }),
    async ping() {
      await link.call((client) => client.ping());
    },
    close() {
      clearInterval(timer);
      link.close();
      listening.close();
    },
  };
  const timer = setInterval(() => void check(listening), LISTEN_CHECK_MS).unref();
  await Promise.all([link.open(), listening.open()]);
  return state;
}

/** A call that fails lets go of the connection, and another is made. */
async function check(listening: RedisLink): Promise<void> {
  await listening.call((client) => client.ping()).catch(() => undefined);
}
