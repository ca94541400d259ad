import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';

export interface RedisScript {
  (client: Redis, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
}

/** A Lua script that runs as one step. Its text is sent once; from then on its digest is enough. */
export function redisScript(lua: string): RedisScript {
  const digest = hash('sha1', lua, 'hex');
  return async (client, keys, values) => {
    try {
      return await client.evalsha(digest, keys.length, ...keys, ...values);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(lua, keys.length, ...keys, ...values);
    }
  };
}
