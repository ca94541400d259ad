import type { RedisStep } from './step-pipeline.ts';

/**
 * Keys: for each subject of slots its holders, by their end; for each rate its count. Values: id, life of the slots ms,
 * the number of subjects with slots, the limit of each; for each rate its limit, uses to take, seconds of a period.
 * Returns 1 and when the period of each rate ends, ms; or 0 and the number of the refusing key, and for a rate its uses
 * including these and when its period ends. A refused request takes nothing: no other command runs in between.
 * @param count the library's script. Key: a count. Values: uses, seconds. Returns all uses, and when the period ends
 */
export function permitStep(count: string): RedisStep {
  return {
    lua: `
local function count(KEYS, ARGV)
${count}
end
local id, lifeMs, slots = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local function rate(i, n) return ARGV[slots + (i - slots) * 3 + n] end
for i = 1, slots do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', text(now))
  local isFull = redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[3 + i])
  if isFull and not redis.call('ZSCORE', KEYS[i], id) then return {0, i} end
end
local passed = {1}
for i = slots + 1, #KEYS do
  local limit = tonumber(rate(i, 1))
  local used, endsInMs = unpack(count({KEYS[i]}, {rate(i, 2), rate(i, 3)}))
  if used > limit or limit <= 0 then
    for taken = slots + 1, i do redis.call('DECRBY', KEYS[taken], rate(taken, 2)) end
    return {0, i, used, endsInMs}
  end
  table.insert(passed, endsInMs)
end
for i = 1, slots do
  redis.call('ZADD', KEYS[i], text(now + lifeMs * 1000), id)
  keep(KEYS[i], lifeMs)
end
return passed
`,
  };
}

/** Keys: for each subject its holders; value: id. */
export const RETURN_SLOTS: RedisStep = {
  lua: `
for _, key in ipairs(KEYS) do redis.call('ZREM', key, ARGV[1]) end
return 1
`,
};
