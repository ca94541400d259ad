import { assert } from '../../lib/assert.ts';
import type { JournalPositions } from '../contract.ts';
import { POSITION_LIFE_MS, POSITION_MEMORY_MS } from '../position-bounds.ts';
import type { RedisLink } from './link.ts';
import type { RedisStep } from './step-pipeline.ts';

/** Key: the positions by stream, each with the time until which it holds. Values: stream, position. */
const PUBLISH: RedisStep = {
  lua: `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. text(now + ${POSITION_LIFE_MS * 1_000}))
keep(KEYS[1], ${POSITION_MEMORY_MS})
return 1
`,
};

const WITHDRAW: RedisStep = {
  lua: `return redis.call('HDEL', KEYS[1], ARGV[1])`,
};

/** Returns stream, position and whether it holds, in turn. Forgets what has not held for an hour. */
const READ: RedisStep = {
  lua: `
local found = {}
local all = redis.call('HGETALL', KEYS[1])
for n = 1, #all, 2 do
  local position, untilUs = string.match(all[n + 1], '^(%d+) (%d+)$')
  if tonumber(untilUs) + ${POSITION_MEMORY_MS * 1_000} < now then
    redis.call('HDEL', KEYS[1], all[n])
  else
    for _, value in ipairs({all[n], position, tonumber(untilUs) > now and '1' or '0'}) do table.insert(found, value) end
  end
end
return found
`,
};

/** Positions that all processes with one Redis share. */
export function createRedisPositions({
  link,
  prefix,
}: {
  readonly link: Pick<RedisLink, 'run'>;
  readonly prefix: string;
}): JournalPositions {
  const keys = [`${prefix}journals`];
  const tryRun = async (step: RedisStep, ...values: readonly (string | number)[]): Promise<void> => {
    // While Redis is away each process counts by itself.
    await link.run(step, keys, values).catch(() => undefined);
  };
  return {
    publish: (stream, position) => tryRun(PUBLISH, stream, position),
    withdraw: (stream) => tryRun(WITHDRAW, stream),
    async read() {
      const found = await link.run(READ, keys, []);
      const live = new Map<string, number>();
      const silent = new Map<string, number>();
      // An empty list of Lua is an object in JSON.
      const texts = Array.isArray(found) ? found.map(String) : [];
      assert(texts.length % 3 === 0, 'each stream has a position and a sign');
      for (let at = 0; at < texts.length; at += 3) {
        const [stream = '', position, holds] = texts.slice(at, at + 3);
        (holds === '1' ? live : silent).set(stream, Number(position));
      }
      return { live, silent };
    },
  };
}
