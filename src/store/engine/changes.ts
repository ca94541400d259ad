import type { InvalidationBus } from '../../state/contract.ts';

/** Told when a record of one kind was changed, here or, as news has it, by another process. */
export interface Changes {
  announce(): void;
  /** @param onGap news may have been lost, and something may have changed; absent: that is as good as a change */
  subscribe(listener: () => void, onGap?: () => void): void;
}

/** @param invalidations by which processes that share the database tell each other; absent: there is one */
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
