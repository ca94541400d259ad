import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from '../contract.ts';
import { ALONE_SPENT_LIFE_MS, SPENT_LIFE_MS } from '../reservation-bounds.ts';
import { createMemoryRateLimits } from '../memory/rate-limits.ts';
import { createMemoryReservations } from '../memory/reservations.ts';
import { RedisRateLimits } from './rate-limits.ts';
import { RedisReservations } from './reservations.ts';
import { createRedisLink, type RedisLink, type RedisLinkOptions } from './link.ts';
import { createRedisInvalidationBus } from './invalidation-bus.ts';
import { createRedisPositions } from './journal-positions.ts';
import { createRedisTexts } from './text-cache.ts';
import type { ResponseRoom } from '../response-owners.ts';
import { NO_RESPONSES } from '../memory/state.ts';
import { createRedisResponses } from './response-rows.ts';
import { createRedisValues } from './shared-values.ts';
import { ResilientReservations } from './resilient-reservations.ts';

/** Processes with one prefix share their state. */
export interface RedisStateDeps extends RedisLinkOptions {
  readonly clock: Clock;
  /** The room for all texts of all processes together, bytes. 0 keeps none. */
  readonly textBytesMax: number;
  /** The room for kept responses of all processes together. Absent: none are kept. */
  readonly responseRoom?: ResponseRoom;
}

/** A quiet connection and a dead one look alike without a check: no message is expected. */
const LISTEN_CHECK_MS = 1_000;
/** Kept responses have a connection of their own: a conversation of 32 MB takes its time, and delays no reservation. */
const LARGE_CALL_MS = 5_000;

/**
 * Opens the state that all processes with the same Redis share. While Redis is away each process goes on with its own
 * state, and no request waits for Redis. Settles when Redis is there or the first try has failed.
 */
export async function openRedisState(deps: RedisStateDeps): Promise<SharedState> {
  const { clock, url, prefix, textBytesMax, responseRoom: room = NO_RESPONSES } = deps;
  const link = await createRedisLink(deps);
  const listening = await createRedisLink({ url, prefix });
  const large = await createRedisLink({ url, prefix, callMs: LARGE_CALL_MS });
  const rateLimitState = new RedisRateLimits({ link, prefix, clock, local: createMemoryRateLimits({ clock }) });
  const shared = new RedisReservations({ link, prefix, rateLimitState, spentLifeMs: SPENT_LIFE_MS });
  const local = createMemoryReservations({ clock, spentLifeMs: ALONE_SPENT_LIFE_MS });
  const state: SharedState = {
    reservations: new ResilientReservations(shared, local, link),
    rateLimitState,
    invalidations: createRedisInvalidationBus({ link, listening, prefix }),
    values: createRedisValues({ link, prefix }),
    positions: createRedisPositions({ link, prefix }),
    texts: createRedisTexts({ link, prefix, bytesMax: textBytesMax }),
    responses: createRedisResponses({ link: large, prefix, room }),
    async ping() {
      await link.call((client) => client.ping());
    },
    close() {
      clearInterval(timer);
      link.close();
      listening.close();
      large.close();
    },
  };
  const timer = setInterval(() => void check(listening), LISTEN_CHECK_MS).unref();
  await Promise.all([link.open(), listening.open(), large.open()]);
  return state;
}

/** A failed call drops the connection, and the link makes another one. */
async function check(listening: RedisLink): Promise<void> {
  await listening.call((client) => client.ping()).catch(() => undefined);
}
