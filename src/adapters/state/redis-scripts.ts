/** The steps the Redis state is changed and read by: each a Lua script over the keys of one kind. */
import { script } from '../redis.ts';

/**
 * KEYS[1] is the common start of a kind's keys; the rest are made from it here, since which queue a record
 * leaves stands in the record. They are one hash slot, so a cluster takes them undeclared.
 *   record:<id>    hash: sequence, owner, version, value; group and due while the record is in a queue
 *   sequence       counter: the order of creation
 *   all, owner:<o> sorted sets: id by sequence
 *   due:<group>    sorted sets: sequence and id by time; the padded sequence in front settles ties
 */
const shared = `
local base = KEYS[1]
local function record(id) return base .. 'record:' .. id end
local function member(sequence, id) return string.format('%016.0f', sequence) .. id end
local function leave(id, group, sequence)
  if group then redis.call('ZREM', base .. 'due:' .. group, member(sequence, id)) end
end
local function join(id, group, due, sequence)
  redis.call('HSET', record(id), 'group', group)
  redis.call('ZADD', base .. 'due:' .. group, due, member(sequence, id))
end
local function read(id)
  local found = redis.call('HMGET', record(id), 'version', 'owner', 'value')
  return { id, found[1], found[2], found[3] }
end
`;

const sharing = (lua: string) => script(shared + lua);

export const create = sharing(`
local id, owner, value, queued, group, due = unpack(ARGV)
if redis.call('EXISTS', record(id)) == 1 then return 0 end
local sequence = redis.call('INCR', base .. 'sequence')
redis.call('HSET', record(id), 'sequence', sequence, 'owner', owner, 'version', 1, 'value', value)
redis.call('ZADD', base .. 'all', sequence, id)
redis.call('ZADD', base .. 'owner:' .. owner, sequence, id)
if queued == '1' then join(id, group, due, sequence) end
return 1
`);

export const update = sharing(`
local id, version, value, queued, group, due = unpack(ARGV)
local found = redis.call('HMGET', record(id), 'version', 'sequence', 'group')
if found[1] ~= version then return 0 end
leave(id, found[3], found[2])
redis.call('HDEL', record(id), 'group')
redis.call('HSET', record(id), 'value', value, 'version', version + 1)
if queued == '1' then join(id, group, due, found[2]) end
return 1
`);

export const remove = sharing(`
local id, version = unpack(ARGV)
local found = redis.call('HMGET', record(id), 'version', 'sequence', 'group', 'owner')
if not found[1] or (version ~= '' and found[1] ~= version) then return 0 end
leave(id, found[3], found[2])
redis.call('ZREM', base .. 'all', id)
redis.call('ZREM', base .. 'owner:' .. found[4], id)
redis.call('DEL', record(id))
return 1
`);

/** A lone \`before\` takes the page that ends there: read backwards, then turned round. */
export const list = sharing(`
local order, limit, owned, owner, hasAfter, after, hasBefore, before = unpack(ARGV)
local set = base .. (owned == '1' and 'owner:' .. owner or 'all')
local low, high = '-inf', '+inf'
local function place(cursor)
  local sequence = redis.call('ZSCORE', set, cursor)
  return sequence and '(' .. sequence
end
if hasAfter == '1' then
  local at = place(after)
  if not at then return {} end
  if order == 'asc' then low = at else high = at end
end
if hasBefore == '1' then
  local at = place(before)
  if not at then return {} end
  if order == 'asc' then high = at else low = at end
end
local turned = hasBefore == '1' and hasAfter ~= '1'
local ids
if (order == 'asc') ~= turned then
  ids = redis.call('ZRANGEBYSCORE', set, low, high, 'LIMIT', 0, limit)
else
  ids = redis.call('ZREVRANGEBYSCORE', set, high, low, 'LIMIT', 0, limit)
end
local records = {}
for index, id in ipairs(ids) do
  records[turned and #ids + 1 - index or index] = read(id)
end
return records
`);

export const due = sharing(`
local group, till, limit = unpack(ARGV)
local records = {}
for index, found in ipairs(redis.call('ZRANGEBYSCORE', base .. 'due:' .. group, '-inf', till, 'LIMIT', 0, limit)) do
  records[index] = read(string.sub(found, 17))
end
return records
`);

export const countDue = sharing(`
return redis.call('ZCOUNT', base .. 'due:' .. ARGV[1], '-inf', ARGV[2])
`);
