import type { News } from './shared/contract.ts';

/** Told when a record of one kind was changed, here or, as news has it, by another process. */
export interface Changes {
  announce(): void;
  /** The listener is told, too, when news may have been lost. */
  subscribe(listener: () => void): void;
}

/** @param news by which processes that share the database tell each other; absent: there is one */
export function createChanges(topic: string, news?: News): Changes {
  const listeners: (() => void)[] = [];
  const tell = (): void => listeners.forEach((listener) => listener());
  news?.subscribe(topic, tell, tell);
  return {
    announce() {
      tell();
      news?.announce(topic, '');
    },
    subscribe: (listener) => void listeners.push(listener),
  };
}
