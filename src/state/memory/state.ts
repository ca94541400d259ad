import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from '../contract.ts';
import { createMemoryRateLimits } from './rate-limits.ts';
import { createMemoryReservations } from './reservations.ts';
import { createMemoryTexts } from './text-cache.ts';

export interface MemoryStateDeps {
  readonly clock: Clock;
  /** The room for all texts together, bytes. 0 keeps none. */
  readonly textBytesMax: number;
}

/** Makes the state of one process alone. */
export function createMemoryState({ clock, textBytesMax }: MemoryStateDeps): SharedState {
  return {
    reservations: createMemoryReservations({ clock }),
    rateLimitState: createMemoryRateLimits({ clock }),
    invalidations: { announce: () => undefined, subscribe: () => undefined },
    values: undefined,
    positions: undefined,
    texts: createMemoryTexts({ clock, bytesMax: textBytesMax }),
    ping: () => Promise.resolve(),
    close: () => undefined,
  };
}
