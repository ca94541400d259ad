import type { KeptResponse, ResponseLink, ResponseRow, ResponseRows } from '../contract.ts';
import {
  compareListed,
  isListed,
  ITEM_BYTES,
  ownerText,
  parseOwner,
  ROW_BYTES,
  ROW_PARTS_MIN,
  type ResponseRoom,
} from '../response-owners.ts';
import type { RedisLink } from './link.ts';
import { redisScript } from './script.ts';

/** Rows with one item that are looked at: ids of items are random, and only copies of a conversation share them. */
const ITEM_ROWS_MAX = 64;

/*
 * `row:ID`, a hash of one row; `item:ID`, a sorted set of the rows with an item by when they were made; `of:OWNER`, the
 * same of an owner's rows; `owners`, a sorted set of owners by the bytes that they hold; `ends`, a sorted set of rows by
 * when they expire (ms by the clock of Redis); `total`, the bytes of all. All keys share the tag of the prefix, so that a
 * script may build them.
 */
const SHARED = `
local prefix = ARGV[1]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function rowKey(id) return prefix .. 'row:' .. id end
local function itemsOf(id) return cjson.decode(redis.call('HGET', rowKey(id), 'itemIds') or '[]') end
local function drop(id)
  local row = redis.call('HMGET', rowKey(id), 'owner', 'bytes')
  if not row[1] then return end
  for _, item in ipairs(itemsOf(id)) do redis.call('ZREM', prefix .. 'item:' .. item, id) end
  redis.call('DEL', rowKey(id))
  redis.call('ZREM', prefix .. 'ends', id)
  redis.call('ZREM', prefix .. 'of:' .. row[1], id)
  redis.call('DECRBY', prefix .. 'total', row[2])
  if tonumber(redis.call('ZINCRBY', prefix .. 'owners', '-' .. row[2], row[1])) <= 0 then
    redis.call('ZREM', prefix .. 'owners', row[1])
  end
end
local function dropExpired()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'ends', '-inf', now)) do drop(id) end
end
local function isSeen(id, reader)
  local owner = redis.call('HGET', rowKey(id), 'owner')
  local until_ = tonumber(redis.call('ZSCORE', prefix .. 'ends', id) or 0)
  return owner and until_ > now and owner:sub(1, #reader) == reader
end
local function use(id, life) redis.call('ZADD', prefix .. 'ends', now + life, id) end
local LINK = { 'id', 'owner', 'status', 'parentId', 'items', 'createdAtMs' }
`;

/** Values: prefix, life ms, room, bytes, id, owner, status, parent, created at, JSON of ids, items, object. */
const PUT = redisScript(`${SHARED}
local life, room, bytes, id, owner = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
-- Before anything is written: a script that fails halfway is not undone.
local items = cjson.decode(ARGV[10])
drop(id)
dropExpired()
while tonumber(redis.call('GET', prefix .. 'total') or 0) + bytes > room do
  local largest = redis.call('ZREVRANGE', prefix .. 'owners', 0, 0)[1]
  local oldest = largest and redis.call('ZRANGE', prefix .. 'of:' .. largest, 0, 0)[1]
  if not oldest then
    redis.call('DEL', prefix .. 'total', prefix .. 'owners')
    break
  end
  drop(oldest)
end
redis.call('HSET', rowKey(id), 'id', id, 'bytes', bytes, 'owner', owner, 'status', ARGV[7], 'parentId', ARGV[8],
  'createdAtMs', ARGV[9], 'itemIds', ARGV[10], 'items', ARGV[11], 'object', ARGV[12])
use(id, life)
redis.call('ZADD', prefix .. 'of:' .. owner, ARGV[9], id)
redis.call('ZINCRBY', prefix .. 'owners', bytes, owner)
redis.call('INCRBY', prefix .. 'total', bytes)
for _, item in ipairs(items) do redis.call('ZADD', prefix .. 'item:' .. item, ARGV[9], id) end
return 1
`);

/** Values: prefix, life ms, reader, id. */
const FIND = redisScript(`${SHARED}
local life, reader, id = tonumber(ARGV[2]), ARGV[3], ARGV[4]
if not isSeen(id, reader) then return nil end
use(id, life)
return redis.call('HMGET', rowKey(id), 'id', 'owner', 'status', 'parentId', 'items', 'createdAtMs', 'itemIds', 'object')
`);

/** Values: prefix, life ms, reader, id, links, bytes. */
const CHAIN = redisScript(`${SHARED}
local life, reader, id, most, room = tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local links, bytes = {}, 0
while id and id ~= '' and #links <= most and bytes <= room and isSeen(id, reader) do
  use(id, life)
  local link = redis.call('HMGET', rowKey(id), unpack(LINK))
  links[#links + 1] = link
  bytes = bytes + #link[5]
  id = link[4]
end
return links
`);

/** Values: prefix, life ms, reader, most rows with one item, bytes, ids of items. */
const BY_ITEMS = redisScript(`${SHARED}
local life, reader, most, room = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local links, found, bytes = {}, {}, 0
for at = 6, #ARGV do
  for _, id in ipairs(redis.call('ZREVRANGE', prefix .. 'item:' .. ARGV[at], 0, most - 1)) do
    if found[id] then break end
    if isSeen(id, reader) then
      found[id] = true
      use(id, life)
      local link = redis.call('HMGET', rowKey(id), unpack(LINK))
      links[#links + 1] = link
      bytes = bytes + #link[5]
      break
    end
  end
  if bytes > room then break end
end
return links
`);

/** Values: prefix, reader, id. */
const DELETE = redisScript(`${SHARED}
if not isSeen(ARGV[3], ARGV[2]) then return 0 end
drop(ARGV[3])
return 1
`);

/** Values: prefix, rows, ms of the last row of the page before, its id, owners. The newest of each owner, among them those of the page. */
const LIST = redisScript(`${SHARED}
local most, before, last = tonumber(ARGV[2]), ARGV[3], ARGV[4]
local ids = {}
for at = 5, #ARGV do
  local taken, from = 0, 0
  while taken < most do
    local some = redis.call('ZREVRANGEBYSCORE', prefix .. 'of:' .. ARGV[at], before, '-inf', 'WITHSCORES', 'LIMIT', from, most)
    if #some == 0 then break end
    for index = 1, #some, 2 do
      local id, made = some[index], some[index + 1]
      local isBehind = last == '' or tonumber(made) < tonumber(before) or id < last
      if isBehind and taken < most and isSeen(id, '') then
        ids[#ids + 1] = { tonumber(made), id }
        taken = taken + 1
      end
    end
    from = from + most
  end
end
table.sort(ids, function(one, other)
  if one[1] ~= other[1] then return one[1] > other[1] end
  return one[2] > other[2]
end)
local rows = {}
for at = 1, math.min(most, #ids) do
  rows[at] = redis.call('HMGET', rowKey(ids[at][2]), 'id', 'owner', 'status', 'parentId', 'createdAtMs', 'bytes')
end
return rows
`);

/** Values: prefix. */
const OWNERS = redisScript(`${SHARED}
dropExpired()
return redis.call('ZRANGE', prefix .. 'owners', 0, -1)
`);

/** Values: prefix, owner. */
const DELETE_OF = redisScript(`${SHARED}
for _, id in ipairs(redis.call('ZRANGE', prefix .. 'of:' .. ARGV[2], 0, -1)) do drop(id) end
return 1
`);

export interface RedisResponsesDeps {
  /** Of their own: a long text on its way delays nothing else. */
  readonly link: Pick<RedisLink, 'call'>;
  readonly prefix: string;
  readonly room: ResponseRoom;
}

/** Responses that all processes share. While Redis is away there are none, and every method rejects. */
export function createRedisResponses({ link, prefix, room }: RedisResponsesDeps): ResponseRows {
  const start = `${prefix}responses:`;
  const { bytesMax, lifeMs } = room;
  const run = (script: ReturnType<typeof redisScript>, ...values: readonly (string | number)[]): Promise<unknown> =>
    link.call((client) => script(client, [`${start}total`], [start, ...values]));
  const readOwners = async () => {
    const owners = await run(OWNERS);
    return isTexts(owners) ? owners.map(parseOwner) : [];
  };
  return {
    async put({ id, owner, status, parentId, createdAtMs, itemIds, items, object }) {
      const bytes = Buffer.byteLength(items) + Buffer.byteLength(object) + ROW_BYTES + itemIds.length * ITEM_BYTES;
      if (bytes > bytesMax / ROW_PARTS_MIN) return false;
      const of = ownerText(owner);
      // Callers choose ids: half of a surrogate pair is a fault in JSON for Redis. It gets searched texts so, too.
      const ids = JSON.stringify(itemIds.map((itemId) => itemId.toWellFormed()));
      await run(PUT, lifeMs, bytesMax, bytes, id, of, status, parentId ?? '', createdAtMs, ids, items, object);
      return true;
    },
    async find(id, reader) {
      const fields = await run(FIND, lifeMs, ownerText(reader), id);
      return isTexts(fields) ? rowOf(fields) : undefined;
    },
    async findChain(id, reader, { linksMax, charsMax }) {
      return linksOf(await run(CHAIN, lifeMs, ownerText(reader), id, linksMax, charsMax));
    },
    async findByItems(itemIds, reader, charsMax) {
      if (itemIds.length === 0) return [];
      return linksOf(await run(BY_ITEMS, lifeMs, ownerText(reader), ITEM_ROWS_MAX, charsMax, ...itemIds));
    },
    delete: async (id, reader) => (await run(DELETE, ownerText(reader), id)) === 1,
    async list(listing) {
      const { after, limit } = listing;
      const owners = (await readOwners()).filter((owner) => isListed(listing, owner)).map(ownerText);
      if (owners.length === 0) return [];
      const rows = await run(LIST, limit, after?.createdAtMs ?? '+inf', after?.id ?? '', ...owners);
      return Array.isArray(rows) ? rows.filter(isTexts).map(keptOf).toSorted(compareListed) : [];
    },
    owners: readOwners,
    async deleteOf(owner) {
      await run(DELETE_OF, ownerText(owner));
    },
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function linksOf(value: unknown): readonly ResponseLink[] {
  return Array.isArray(value) ? value.filter(isTexts).map(linkOf) : [];
}

function linkOf(fields: readonly string[]): ResponseLink {
  const [id = '', owner = '', status = '', parentId = '', items = '', createdAtMs = ''] = fields;
  return {
    id,
    owner: parseOwner(owner),
    status,
    parentId: parentId === '' ? null : parentId,
    createdAtMs: Number(createdAtMs),
    items,
  };
}

function keptOf(fields: readonly string[]): KeptResponse {
  const [id = '', owner = '', status = '', parentId = '', createdAtMs = '', bytes = ''] = fields;
  return {
    id,
    owner: parseOwner(owner),
    status,
    parentId: parentId === '' ? null : parentId,
    createdAtMs: Number(createdAtMs),
    bytes: Number(bytes),
    expiresAtMs: null,
    runs: null,
  };
}

function rowOf(fields: readonly string[]): ResponseRow {
  const [itemIds = '[]', object = ''] = fields.slice(6);
  const ids: unknown = JSON.parse(itemIds);
  return { ...linkOf(fields), itemIds: isTexts(ids) ? ids : [], object };
}
