import type { RedisStep } from './step-pipeline.ts';
import { SHARE_DIVISOR } from '../shares.ts';

/*
 * The keys of a subject, by their names in the scripts below: `sum`, a hash: `v` version of the sum, `c` everything
 * settled, `s` spent, `u` until when that counts, `r` when it was read, `d` whether it is doubtful, `f` which version
 * of the owner it was read under, `h` what is reserved, and for each reservation `o:ID`, its amount and when it was
 * opened. `ends`, a sorted set: reservations by their end. `owner`, a number that grows when the owner's sums are to be
 * forgotten.
 */
const SHARED = `
local function close(sum, ends, id, open)
  local amount, opened = string.match(open, '^(%d+) (%d+)$')
  redis.call('HDEL', sum, 'o:' .. id)
  redis.call('ZREM', ends, id)
  if amount ~= '0' then redis.call('HINCRBY', sum, 'h', '-' .. amount) end
  return tonumber(opened)
end
local function closeAny(sum, ends, id)
  local open = redis.call('HGET', sum, 'o:' .. id)
  if open then close(sum, ends, id, open) end
end
local function outdate(sum)
  if redis.call('EXISTS', sum) == 0 then return end
  redis.call('HDEL', sum, 's')
  redis.call('HSET', sum, 'v', text(math.max(now, tonumber(redis.call('HGET', sum, 'v') or 0) + 1)))
end
`;

/**
 * Keys: `sum`, `ends`, `owner` of each allowance. Values: id (empty: reserve nothing, and others' reservations do not
 * count), life of the reservation ms, life of a sum ms, ids of reservations that it replaces, with spaces between; for
 * each allowance limit, want, min, whether a doubtful sum is good enough, what was read: version, owner's version,
 * settled, sum; and of a share the least and what is spent of it, or nothing. The amounts are those of `shares.ts`.
 * Returns 1 and what is reserved of each; or 0, the number of the refusing allowance, what is left and what is
 * reserved; or 2 and for each sum that must be read its number, version, owner's version, settled; or 3 and the same
 * for a doubtful sum.
 */
export const RESERVE: RedisStep = {
  lua: `${SHARED}
local id, holdMs, lifeMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local count = #KEYS / 3
local function instead() return string.gmatch(ARGV[4], '%S+') end
local function arg(i, n) return ARGV[4 + (i - 1) * 10 + n] end
local unknown, known = {2}, {}
local function mustRead(i, fields, owner)
  for _, value in ipairs({text(i), fields[1], owner, fields[2] or '0'}) do table.insert(unknown, value) end
end
local function look(i)
  local sum, owner = KEYS[i * 3 - 2], redis.call('GET', KEYS[i * 3]) or '0'
  local fields = redis.call('HMGET', sum, 'v', 'c', 's', 'u', 'f', 'd', 'h', 'o:' .. id)
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
  if not isKnown then mustRead(i, fields, owner) end
  known[i] = {spent = tonumber(fields[3]), held = tonumber(fields[7] or 0), isDoubtful = fields[6] == '1'}
  return fields[8]
end
local function heldBeside(i)
  local held = known[i].held
  for other in instead() do
    local open = redis.call('HGET', KEYS[i * 3 - 2], 'o:' .. other)
    if open then held = held - tonumber(string.match(open, '^%d+')) end
  end
  return held
end
for i = 1, count do
  local sum, ends = KEYS[i * 3 - 2], KEYS[i * 3 - 1]
  if id ~= '' then
    for _, over in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', text(now))) do closeAny(sum, ends, over) end
  end
  if look(i) and i == 1 then
    local held = {1}
    for n = 1, count do
      table.insert(held, string.match(redis.call('HGET', KEYS[n * 3 - 2], 'o:' .. id) or '0', '^%d+'))
    end
    return held
  end
end
if #unknown > 1 then return unknown end
local function takenOf(i, left)
  local most = tonumber(arg(i, 2))
  if arg(i, 9) ~= '' then
    local spent = tonumber(arg(i, 10))
    local part = spent + math.floor((left - spent) / ${SHARE_DIVISOR})
    most = math.min(most, math.max(tonumber(arg(i, 9)), part))
  end
  return math.min(most, left)
end
local takes, own, degree = {}, {}, 1
for i = 1, count do
  local held = id == '' and 0 or heldBeside(i)
  local left = tonumber(arg(i, 1)) - known[i].spent - held
  local take, want, least = takenOf(i, left), tonumber(arg(i, 2)), tonumber(arg(i, 3))
  if take < least then
    if arg(i, 4) == '1' or not known[i].isDoubtful then return {0, text(i), text(left), text(held)} end
    outdate(KEYS[i * 3 - 2])
    look(i)
    unknown[1] = 3
    return unknown
  end
  takes[i] = take
  own[i] = want <= least and 1 or (take - least) / (want - least)
  degree = math.min(degree, own[i])
end
local taken = {1}
for i = 1, count do
  local take, want, least = takes[i], tonumber(arg(i, 2)), tonumber(arg(i, 3))
  if own[i] > degree then take = math.min(take, least + math.ceil(degree * (want - least))) end
  table.insert(taken, text(take))
end
if id == '' then return taken end
for i = 1, count do
  local sum, ends = KEYS[i * 3 - 2], KEYS[i * 3 - 1]
  for other in instead() do closeAny(sum, ends, other) end
  redis.call('HINCRBY', sum, 'h', taken[i + 1])
  redis.call('HSET', sum, 'o:' .. id, taken[i + 1] .. ' ' .. text(now))
  redis.call('ZADD', ends, text(now + holdMs * 1000), id)
  keep(sum, holdMs + lifeMs)
  keep(ends, holdMs + lifeMs)
end
return taken
`,
};

/**
 * Adds a reservation that was made without Redis, in place of any with its id. Keys: `sum`, `ends` of each subject.
 * Values: id, life of the reservation ms, life of a sum ms; what is reserved of each subject. It may be older than any
 * sum: it is opened at 0, so that a sum that its charge is added to is doubtful.
 */
export const ADOPT: RedisStep = {
  lua: `${SHARED}
local id, holdMs, lifeMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 1, #KEYS / 2 do
  local sum, ends, held = KEYS[i * 2 - 1], KEYS[i * 2], ARGV[i + 3]
  closeAny(sum, ends, id)
  redis.call('HINCRBY', sum, 'h', held)
  redis.call('HSET', sum, 'o:' .. id, held .. ' 0')
  redis.call('ZADD', ends, text(now + holdMs * 1000), id)
  keep(sum, holdMs + lifeMs)
  keep(ends, holdMs + lifeMs)
end
return 1
`,
};

/**
 * Releases a reservation. Keys: `sum`, `ends` of each subject. Values: id; for each subject its charge, or nothing. A
 * charge without its reservation may have been counted before, so only the durable sum shows it.
 */
export const FINISH: RedisStep = {
  lua: `${SHARED}
for i = 1, #KEYS / 2 do
  local sum, ends, charge = KEYS[i * 2 - 1], KEYS[i * 2], ARGV[i + 1]
  local fields = redis.call('HMGET', sum, 'o:' .. ARGV[1], 's', 'r')
  local opened = fields[1] and close(sum, ends, ARGV[1], fields[1])
  if charge ~= '' and not opened then
    outdate(sum)
  elseif charge ~= '' then
    redis.call('HINCRBY', sum, 'c', charge)
    if fields[2] then
      redis.call('HINCRBY', sum, 's', charge)
      if tonumber(fields[3]) > opened then redis.call('HSET', sum, 'd', '1') end
    end
  end
end
return 1
`,
};
