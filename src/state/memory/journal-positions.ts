import type { Clock } from '../../lib/clock.ts';
import type { JournalPositions } from '../contract.ts';
import { POSITION_LIFE_MS, POSITION_MEMORY_MS } from '../position-bounds.ts';

/** Positions of the processes that share the memory of this one. */
export function createMemoryPositions({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): JournalPositions {
  const published = new Map<string, { readonly position: number; readonly untilMs: number }>();
  return {
    async publish(stream, position) {
      published.set(stream, { position, untilMs: clock.monotonicMs() + POSITION_LIFE_MS });
    },
    async withdraw(stream) {
      published.delete(stream);
    },
    async read() {
      const nowMs = clock.monotonicMs();
      const live = new Map<string, number>();
      const silent = new Map<string, number>();
      for (const [stream, { position, untilMs }] of published)
        if (untilMs + POSITION_MEMORY_MS < nowMs) published.delete(stream);
        else (untilMs > nowMs ? live : silent).set(stream, position);
      return { live, silent };
    },
  };
}
