import type { News } from './shared/contract.ts';

/** Told when a record of one kind was changed, here or, as news has it, by another process. */
export interface Changes {
  announce(): void;
  /** @param onGap news may have been lost, and something may have changed; absent: that is as good as a change */
  subscribe(listener: () => void, onGap?: () => void): void;
}

/** @param news by which processes that share the database tell each other; absent: there is one */
export function createChanges(topic: string, news?: News): Changes {
  const listeners: { readonly onChange: () => void; readonly onGap: () => void }[] = [];
  const tell = (): void => listeners.forEach(({ onChange }) => onChange());
  news?.subscribe(topic, tell, () => listeners.forEach(({ onGap }) => onGap()));
  return {
    announce() {
      tell();
      news?.announce(topic, '');
    },
    subscribe: (onChange, onGap = onChange) => void listeners.push({ onChange, onGap }),
  };
}
