import type { InvalidationBus } from '../../state/contract.ts';

/** Changes of the records of one kind, made here or, as the invalidation bus reports, by another process. */
export interface Changes {
  announce(): void;
  /**
   * @param onGap runs when announcements may have been lost, and something may have changed; absent: the listener runs
   * as for a change
   */
  subscribe(listener: () => void, onGap?: () => void): void;
}

/**
 * @param invalidations how processes that share the database report changes to each other; absent: there is one process
 */
export function createChanges(topic: string, invalidations?: InvalidationBus): Changes {
  const listeners: { readonly onChange: () => void; readonly onGap: () => void }[] = [];
  const notify = (): void => listeners.forEach(({ onChange }) => onChange());
  invalidations?.subscribe(topic, notify, () => listeners.forEach(({ onGap }) => onGap()));
  return {
    announce() {
      notify();
      invalidations?.announce(topic, '');
    },
    subscribe: (onChange, onGap = onChange) => void listeners.push({ onChange, onGap }),
  };
}
