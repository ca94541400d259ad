import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from './contract.ts';
import { createMemoryGate } from './memory-gate.ts';
import { createMemoryHolds } from './memory-holds.ts';
import { createMemoryTexts } from './memory-texts.ts';

export interface MemoryStateParts {
  readonly clock: Clock;
  /** What all kept texts may take together. 0 keeps none. */
  readonly textBytesMax: number;
}

/** State of one process alone. */
export function createMemoryState({ clock, textBytesMax }: MemoryStateParts): SharedState {
  return {
    holds: createMemoryHolds({ clock }),
    gate: createMemoryGate({ clock }),
    news: { announce: () => undefined, subscribe: () => undefined },
    values: undefined,
    texts: createMemoryTexts({ clock, bytesMax: textBytesMax }),
    ping: () => Promise.resolve(),
    close: () => undefined,
  };
}
