import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from '../contract.ts';
import type { ResponseRoom } from '../response-owners.ts';
import { createMemoryRateLimits } from './rate-limits.ts';
import { createMemoryReservations } from './reservations.ts';
import { createMemoryResponses } from './response-rows.ts';
import { createMemoryTexts } from './text-cache.ts';

export interface MemoryStateDeps {
  readonly clock: Clock;
  /** The room for all texts together, bytes. 0 keeps none. */
  readonly textBytesMax: number;
  /** The room for kept responses. Absent: none are kept. */
  readonly responseRoom?: ResponseRoom;
}

export const NO_RESPONSES: ResponseRoom = { bytesMax: 0, lifeMs: 1 };

/** Makes the state of one process alone. */
export function createMemoryState({
  clock,
  textBytesMax,
  responseRoom: room = NO_RESPONSES,
}: MemoryStateDeps): SharedState {
  return {
    reservations: createMemoryReservations({ clock }),
    rateLimitState: createMemoryRateLimits({ clock }),
    invalidations: { announce: () => undefined, subscribe: () => undefined },
    values: undefined,
    positions: undefined,
    texts: createMemoryTexts({ clock, bytesMax: textBytesMax }),
    responses: createMemoryResponses({ clock, room }),
    ping: () => Promise.resolve(),
    close: () => undefined,
  };
}
