import type { MessageLink } from '../../lib/net/message-link.ts';
import type { InvalidationBus } from '../contract.ts';
import type { SentNews, WorkerStateProcedures } from './procedures.ts';

type WorkerLink = MessageLink<WorkerStateProcedures>;

/** Messages between the first process and its workers. None is lost as long as both live. */
export interface InvalidationHub extends InvalidationBus {
  /** Lets a worker hear what is announced from now on, until its link is closed. */
  join(link: WorkerLink): void;
  /** Passes a worker's announcement on to this process and to the other workers. */
  pass(from: WorkerLink, news: SentNews): void;
  /** Settles when every worker has heard what this process announced before, or takes too long. */
  delivered(): Promise<void>;
}

/** A worker that does not hear within this time is stuck, and is not waited for any longer. */
const HEARD_MS_MAX = 2_000;

export function createInvalidationHub(): InvalidationHub {
  const links = new Set<WorkerLink>();
  const listeners = new Map<string, ((message: string) => void)[]>();
  const unheard = new Set<Promise<void>>();

  function announceTo(link: WorkerLink, news: SentNews): void {
    const heard = link
      .call('hear', news)
      .catch(() => undefined)
      .finally(() => unheard.delete(heard));
    unheard.add(heard);
  }

  return {
    join(link) {
      links.add(link);
      void link.closed.then(() => links.delete(link));
    },
    announce(topic, message) {
      for (const link of links) announceTo(link, { topic, message });
    },
    pass(from, news) {
      for (const listener of listeners.get(news.topic) ?? []) listener(news.message);
      for (const link of links) if (link !== from) link.tell('hear', news);
    },
    subscribe(topic, listener) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
    },
    async delivered() {
      if (unheard.size === 0) return;
      const limit = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => limit.resolve(undefined), HEARD_MS_MAX);
      await Promise.race([Promise.all(unheard), limit.promise]);
      clearTimeout(timer);
    },
  };
}
