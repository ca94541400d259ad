import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { InvalidationBus } from '../contract.ts';
import type { RedisLink } from './link.ts';

export interface RedisInvalidationBusDeps {
  readonly link: RedisLink;
  /** A connection of its own: a subscribed connection can do little else. */
  readonly listening: RedisLink;
  readonly prefix: string;
}

interface Listener {
  readonly onMessage: (message: string) => void;
  readonly onGap: () => void;
}

/** Messages that may wait for Redis; further ones are lost, which heals when records are read again. */
const UNDER_WAY_MAX = 1_000;
const MESSAGE_CHARS_MAX = 65_536;

/** Sends invalidations by publish and subscribe. A connection that comes back may have missed some. */
export function createRedisInvalidationBus({ link, listening, prefix }: RedisInvalidationBusDeps): InvalidationBus {
  const channel = `${prefix}news`;
  const self = randomUUID();
  const listeners = new Map<string, Listener[]>();
  let underWay = 0;

  function receive(text: string): void {
    const received = text.length > MESSAGE_CHARS_MAX ? undefined : parseMessage(text);
    if (received === undefined || received.from === self) return;
    for (const { onMessage } of listeners.get(received.topic) ?? []) onMessage(received.message);
  }

  listening.onBack(async (client: Redis) => {
    client.on('message', (_channel, text) => receive(text));
    await client.subscribe(channel);
    for (const { onGap } of [...listeners.values()].flat()) onGap();
  });

  return {
    announce(topic, message) {
      if (underWay >= UNDER_WAY_MAX) return;
      underWay++;
      const text = JSON.stringify([self, topic, message]);
      link
        .call((client) => client.publish(channel, text))
        .catch(() => undefined)
        .finally(() => underWay--);
    },
    subscribe(topic, onMessage, onGap = () => undefined) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), { onMessage, onGap }]);
    },
  };
}

function parseMessage(
  text: string,
): { readonly from: string; readonly topic: string; readonly message: string } | undefined {
  try {
    const fields: unknown = JSON.parse(text);
    if (!Array.isArray(fields) || fields.length !== 3) return undefined;
    const [from, topic, message]: readonly unknown[] = fields;
    if (typeof from !== 'string' || typeof topic !== 'string' || typeof message !== 'string') return undefined;
    return { from, topic, message };
  } catch {
    // A message of another shape is not from a gateway.
    return undefined;
  }
}
