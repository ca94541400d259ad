import type { Redis } from 'ioredis';
import type { TextCache } from '../contract.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { RedisLink } from './link.ts';
import { redisScript } from './script.ts';
import { TEXT_CHARS_MAX } from '../text-bounds.ts';

/** A request waits no longer than this: a caller that finds no text makes it again. */
const GET_MS_MAX = 100;
/** Texts on their way to Redis; further ones are not kept. */
const UNDER_WAY_MAX = 100;

/*
 * Redis counts the size of the texts, so that their bound does not depend on its treatment of full memory: `ends`, a
 * sorted set of names by when their text expires (ms by the clock of Redis); `sizes`, a hash of bytes by name; `total`,
 * their sum. All keys share the tag of the prefix, so that a script may build the key of a text.
 */
const SHARED = `
local ends, sizes, total, prefix = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local function drop(name)
  local size = redis.call('HGET', sizes, name)
  if size then
    redis.call('DECRBY', total, size)
    redis.call('HDEL', sizes, name)
    redis.call('ZREM', ends, name)
  end
  redis.call('DEL', prefix .. name)
end
`;

/** Values: prefix, name, text, life ms, room for all texts in bytes. The texts that expire first are dropped. */
const KEEP = redisScript(`${SHARED}
local name, text, life, room = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
drop(name)
if #text > room then return 0 end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do drop(old) end
while tonumber(redis.call('GET', total) or 0) + #text > room do
  local first = redis.call('ZRANGE', ends, 0, 0)[1]
  if not first then
    redis.call('DEL', total)
    break
  end
  drop(first)
end
redis.call('SET', prefix .. name, text, 'PX', life)
redis.call('ZADD', ends, now + life, name)
redis.call('HSET', sizes, name, #text)
redis.call('INCRBY', total, #text)
return 1
`);

/** Values: prefix, name. */
const DROP = redisScript(`${SHARED}
drop(ARGV[2])
return 1
`);

export interface RedisTextsDeps {
  readonly link: RedisLink;
  readonly prefix: string;
  readonly bytesMax: number;
}

/** Texts that all processes share. While Redis is away there are none. */
export function createRedisTexts({ link, prefix, bytesMax }: RedisTextsDeps): TextCache {
  const textPrefix = `${prefix}text:`;
  const counts = [`${prefix}texts:ends`, `${prefix}texts:sizes`, `${prefix}texts:total`];
  let underWay = 0;

  function send(command: (client: Redis) => Promise<unknown>): void {
    if (!link.isUp || underWay >= UNDER_WAY_MAX) return;
    underWay++;
    link
      .call(command)
      .catch(() => undefined)
      .finally(() => underWay--);
  }

  function drop(name: string): void {
    send((client) => DROP(client, counts, [textPrefix, name]));
  }

  return {
    async get(name) {
      if (!link.isUp) return undefined;
      const found = link.call((client) => client.get(textPrefix + name));
      return (await withTimeout(found, GET_MS_MAX).catch(() => null)) ?? undefined;
    },
    set(name, text, lifeMs) {
      if (text.length > TEXT_CHARS_MAX) drop(name);
      else send((client) => KEEP(client, counts, [textPrefix, name, text, Math.ceil(lifeMs), bytesMax]));
    },
    delete: drop,
  };
}
