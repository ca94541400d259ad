import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from './contract.ts';
import { createMemoryHolds } from './memory-holds.ts';
import { createMemoryTexts } from './memory-texts.ts';
import { createLocalCounter, createRates } from './rates.ts';
import { createMemorySlots } from './slots.ts';

export interface MemoryStateParts {
  readonly clock: Clock;
  /** What all kept texts may take together. 0 keeps none. */
  readonly textBytesMax: number;
}

/** State of one process alone. */
export function createMemoryState({ clock, textBytesMax }: MemoryStateParts): SharedState {
  return {
    holds: createMemoryHolds({ clock }),
    rates: createRates({ clock, local: createLocalCounter() }),
    slots: createMemorySlots({ clock }),
    news: { announce: () => undefined, subscribe: () => undefined },
    values: undefined,
    texts: createMemoryTexts({ clock, bytesMax: textBytesMax }),
    ping: () => Promise.resolve(),
    close: () => undefined,
  };
}
