import type { SharedValues } from '../contract.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { RedisLink } from './link.ts';

/** A request waits no longer than this for a value of another process. */
const GET_MS_MAX = 50;
/** Values that may wait to be stored; further ones are not shared. */
const UNDER_WAY_MAX = 1_000;
const VALUE_CHARS_MAX = 65_536;

export function createRedisValues({
  link,
  prefix,
}: {
  readonly link: RedisLink;
  readonly prefix: string;
}): SharedValues {
  let underWay = 0;
  const keyOf = (key: string): string => `${prefix}value:${key}`;
  return {
    async get(key) {
      if (!link.isUp) return undefined;
      const found = link.call((client) => client.get(keyOf(key)));
      return (await withTimeout(found, GET_MS_MAX).catch(() => null)) ?? undefined;
    },
    set(key, value, lifeMs) {
      if (!link.isUp || underWay >= UNDER_WAY_MAX || value.length > VALUE_CHARS_MAX) return;
      underWay++;
      link
        .call((client) => client.set(keyOf(key), value, 'PX', Math.ceil(lifeMs)))
        .catch(() => undefined)
        .finally(() => underWay--);
    },
  };
}
