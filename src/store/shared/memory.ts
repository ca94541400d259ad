import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from './contract.ts';
import { createMemoryHolds } from './memory-holds.ts';
import { createLocalCounter, createRates } from './rates.ts';
import { createMemorySlots } from './slots.ts';

/** State of one process alone. */
export function createMemoryState({ clock }: { readonly clock: Clock }): SharedState {
  return {
    holds: createMemoryHolds({ clock }),
    rates: createRates({ clock, local: createLocalCounter() }),
    slots: createMemorySlots({ clock }),
    news: { announce: () => undefined, subscribe: () => undefined },
    values: undefined,
    ping: () => Promise.resolve(),
    close: () => undefined,
  };
}
