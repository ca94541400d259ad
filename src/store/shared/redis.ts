import type { Clock } from '../../lib/clock.ts';
import type { SharedState } from './contract.ts';
import { ALONE_SPENT_LIFE_MS, SPENT_LIFE_MS } from './holds-bounds.ts';
import { createMemoryGate } from './memory-gate.ts';
import { createMemoryHolds } from './memory-holds.ts';
import { RedisGate } from './redis-gate.ts';
import { RedisHolds } from './redis-holds.ts';
import { createRedisLink, type RedisLink, type RedisLinkOptions } from './redis-link.ts';
import { createRedisNews } from './redis-news.ts';
import { createRedisTexts } from './redis-texts.ts';
import { createRedisValues } from './redis-values.ts';
import { SteadyHolds } from './steady-holds.ts';

/** Processes with one prefix share their state. */
export interface RedisStateParts extends RedisLinkOptions {
  readonly clock: Clock;
  /** What all kept texts of all processes may take together. 0 keeps none. */
  readonly textBytesMax: number;
}

/** Nobody misses what is not said: only this tells a quiet connection from a dead one. */
const LISTEN_CHECK_MS = 1_000;

/**
 * State that all processes share which are given the same Redis. While it is away each goes on with its own, and nothing
 * waits for it. Settles when Redis is there or the first try has failed.
 */
export async function openRedisState(parts: RedisStateParts): Promise<SharedState> {
  const { clock, url, prefix, textBytesMax } = parts;
  const link = await createRedisLink(parts);
  const listening = await createRedisLink({ url, prefix });
  const gate = new RedisGate({ link, prefix, clock, local: createMemoryGate({ clock }) });
  const shared = new RedisHolds({ link, prefix, gate, spentLifeMs: SPENT_LIFE_MS });
  const local = createMemoryHolds({ clock, spentLifeMs: ALONE_SPENT_LIFE_MS });
  const state: SharedState = {
    holds: new SteadyHolds(shared, local, link),
    gate,
    news: createRedisNews({ link, listening, prefix }),
    values: createRedisValues({ link, prefix }),
    texts: createRedisTexts({ link, prefix, bytesMax: textBytesMax }),
    async ping() {
      await link.call((client) => client.ping());
    },
    close() {
      clearInterval(timer);
      link.close();
      listening.close();
    },
  };
  const timer = setInterval(() => void check(listening), LISTEN_CHECK_MS).unref();
  await Promise.all([link.open(), listening.open()]);
  return state;
}

/** A call that fails lets go of the connection, and another is made. */
async function check(listening: RedisLink): Promise<void> {
  await listening.call((client) => client.ping()).catch(() => undefined);
}
