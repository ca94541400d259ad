import { redisScript } from './redis-script.ts';

/*
 * What Redis keeps of a subject, in words of the scripts below:
 * `sum`, a hash: `v` version of the sum, `c` everything settled, `s` spent, `u` until when that counts, `r` when it was
 * read, `d` whether it is doubtful, `f` which version of the owner it was read under, `h` what is held, and for each hold
 * `o:ID`, its amount and when it was opened. `ends`, a sorted set: holds by their end. `owner`, a number that grows when
 * what the owner spent is to be forgotten. Times are microseconds by the clock of Redis, so that processes need not agree
 * on one; they and money are integers below 2^53, which numbers of Lua hold exactly.
 */
const SHARED = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local function text(n) return string.format('%.0f', n) end
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, text(ms)) end
end
local function close(sum, ends, id)
  local open = redis.call('HGET', sum, 'o:' .. id)
  if not open then return nil end
  local amount, opened = string.match(open, '^(%d+) (%d+)$')
  redis.call('HDEL', sum, 'o:' .. id)
  redis.call('ZREM', ends, id)
  if amount ~= '0' then redis.call('HINCRBY', sum, 'h', '-' .. amount) end
  return tonumber(opened)
end
local function endExpired(sum, ends)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', text(now))) do close(sum, ends, id) end
end
local function outdate(sum)
  if redis.call('EXISTS', sum) == 0 then return end
  redis.call('HDEL', sum, 's')
  redis.call('HSET', sum, 'v', text(math.max(now, tonumber(redis.call('HGET', sum, 'v') or 0) + 1)))
end
`;

/**
 * Keys: `sum`, `ends`, `owner` of each allowance. Values: id (empty: nothing is to be held, and what is held does not
 * count), life of the hold ms, life of a sum ms, ids of holds that it takes the place of, with spaces between; for each allowance
 * limit, want, min, whether a doubtful sum is good enough, and what was read: version, owner's version, settled, sum.
 * Gives 1 and what is held of each; or 0, the number of the refusing allowance, what is left and what is held; or 2 and
 * for each sum that must be read its number, version, owner's version, settled; or 3 and the same of one that is doubtful.
 */
export const RESERVE = redisScript(`${SHARED}
local id, holdMs, lifeMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local count = #KEYS / 3
local function instead() return string.gmatch(ARGV[4], '%S+') end
local function arg(i, n) return ARGV[4 + (i - 1) * 8 + n] end
local function heldBeside(sum)
  local held = tonumber(redis.call('HGET', sum, 'h') or 0)
  for other in instead() do
    local open = redis.call('HGET', sum, 'o:' .. other)
    if open then held = held - tonumber(string.match(open, '^%d+')) end
  end
  return held
end
local unknown, spents = {2}, {}
local function mustRead(i, fields, owner)
  for _, value in ipairs({text(i), fields[1], owner, fields[2] or '0'}) do table.insert(unknown, value) end
end
local function look(i)
  local sum, owner = KEYS[i * 3 - 2], redis.call('GET', KEYS[i * 3]) or '0'
  local fields = redis.call('HMGET', sum, 'v', 'c', 's', 'u', 'f', 'd')
  if not fields[1] then
    fields[1] = text(now)
    redis.call('HSET', sum, 'v', fields[1])
    keep(sum, lifeMs)
  end
  local isKnown = fields[3] and tonumber(fields[4]) > now and fields[5] == owner
  if not isKnown and arg(i, 5) == fields[1] and arg(i, 6) == owner then
    local meanwhile = tonumber(fields[2] or 0) - tonumber(arg(i, 7))
    fields[3] = text(tonumber(arg(i, 8)) + meanwhile)
    fields[6] = meanwhile == 0 and '0' or '1'
    redis.call('HSET', sum, 's', fields[3], 'u', text(now + lifeMs * 1000), 'r', text(now), 'f', owner, 'd', fields[6])
    keep(sum, lifeMs)
    isKnown = true
  end
  if isKnown then spents[i] = tonumber(fields[3]) else mustRead(i, fields, owner) end
  return fields, owner
end
for i = 1, count do
  endExpired(KEYS[i * 3 - 2], KEYS[i * 3 - 1])
  if i == 1 and redis.call('HEXISTS', KEYS[1], 'o:' .. id) == 1 then
    local held = {1}
    for n = 1, count do
      table.insert(held, string.match(redis.call('HGET', KEYS[n * 3 - 2], 'o:' .. id) or '0', '^%d+'))
    end
    return held
  end
  look(i)
end
if #unknown > 1 then return unknown end
local taken = {1}
for i = 1, count do
  local sum = KEYS[i * 3 - 2]
  local held = id == '' and 0 or heldBeside(sum)
  local left = tonumber(arg(i, 1)) - spents[i] - held
  local take = math.min(tonumber(arg(i, 2)), left)
  if take < tonumber(arg(i, 3)) then
    if arg(i, 4) == '1' or redis.call('HGET', sum, 'd') ~= '1' then return {0, text(i), text(left), text(held)} end
    outdate(sum)
    look(i)
    unknown[1] = 3
    return unknown
  end
  table.insert(taken, text(take))
end
if id == '' then return taken end
for i = 1, count do
  local sum, ends = KEYS[i * 3 - 2], KEYS[i * 3 - 1]
  for other in instead() do close(sum, ends, other) end
  redis.call('HINCRBY', sum, 'h', taken[i + 1])
  redis.call('HSET', sum, 'o:' .. id, taken[i + 1] .. ' ' .. text(now))
  redis.call('ZADD', ends, text(now + holdMs * 1000), id)
  keep(sum, holdMs + lifeMs)
  keep(ends, holdMs + lifeMs)
end
return taken
`);

/**
 * A hold that was made without Redis, in place of any with its id. Keys: `sum`, `ends` of each subject. Values: id, life of
 * the hold ms, life of a sum ms; what is held of each subject. It may be older than any sum: opened at 0, so that a sum
 * that its charge is added to is doubtful.
 */
export const ADOPT = redisScript(`${SHARED}
local id, holdMs, lifeMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 1, #KEYS / 2 do
  local sum, ends, held = KEYS[i * 2 - 1], KEYS[i * 2], ARGV[i + 3]
  close(sum, ends, id)
  redis.call('HINCRBY', sum, 'h', held)
  redis.call('HSET', sum, 'o:' .. id, held .. ' 0')
  redis.call('ZADD', ends, text(now + holdMs * 1000), id)
  keep(sum, holdMs + lifeMs)
  keep(ends, holdMs + lifeMs)
end
return 1
`);

/**
 * Frees a hold. Keys: `sum`, `ends` of each subject. Values: id; for each subject what is charged, or nothing. A charge
 * whose hold is not there may have been counted before, so that only the durable sum knows.
 */
export const FINISH = redisScript(`${SHARED}
for i = 1, #KEYS / 2 do
  local sum, ends, charge = KEYS[i * 2 - 1], KEYS[i * 2], ARGV[i + 1]
  endExpired(sum, ends)
  local opened = close(sum, ends, ARGV[1])
  if charge ~= '' and not opened then
    outdate(sum)
  elseif charge ~= '' then
    redis.call('HINCRBY', sum, 'c', charge)
    local spent = redis.call('HMGET', sum, 's', 'r')
    if spent[1] then
      redis.call('HINCRBY', sum, 's', charge)
      if tonumber(spent[2]) > opened then redis.call('HSET', sum, 'd', '1') end
    end
  end
end
return 1
`);
