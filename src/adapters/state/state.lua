--[[
Reads and changes of the state: each command is one atomic step over the records of one kind. ARGV[1] names it.

KEYS[1] is the prefix of a kind's keys; the others are built from it here, since a record itself names its queue.
They share a hash slot, so a cluster accepts them undeclared.
  record:<id>     hash: sequence, owner, version, value; group while the record is in a queue
  sequence        counter: the order of creation
  all, owner:<o>  sorted sets: id by sequence
  due:<group>     sorted sets: sequence and id by time; the padded sequence breaks ties
]]
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

local commands = {}

function commands.create(id, owner, value, queued, group, due)
  if redis.call('EXISTS', record(id)) == 1 then return 0 end
  local sequence = redis.call('INCR', base .. 'sequence')
  redis.call('HSET', record(id), 'sequence', sequence, 'owner', owner, 'version', 1, 'value', value)
  redis.call('ZADD', base .. 'all', sequence, id)
  redis.call('ZADD', base .. 'owner:' .. owner, sequence, id)
  if queued == '1' then join(id, group, due, sequence) end
  return 1
end

function commands.update(id, version, value, queued, group, due)
  local found = redis.call('HMGET', record(id), 'version', 'sequence', 'group')
  if found[1] ~= version then return 0 end
  leave(id, found[3], found[2])
  redis.call('HDEL', record(id), 'group')
  redis.call('HSET', record(id), 'value', value, 'version', version + 1)
  if queued == '1' then join(id, group, due, found[2]) end
  return 1
end

function commands.remove(id, version)
  local found = redis.call('HMGET', record(id), 'version', 'sequence', 'group', 'owner')
  if not found[1] or (version ~= '' and found[1] ~= version) then return 0 end
  leave(id, found[3], found[2])
  redis.call('ZREM', base .. 'all', id)
  redis.call('ZREM', base .. 'owner:' .. found[4], id)
  redis.call('DEL', record(id))
  return 1
end

function commands.list(order, limit, owned, owner, hasAfter, after, hasBefore, before)
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
  -- Only `before`: the page that ends there, read backwards and reversed.
  local reversed = hasBefore == '1' and hasAfter ~= '1'
  local ids
  if (order == 'asc') ~= reversed then
    ids = redis.call('ZRANGEBYSCORE', set, low, high, 'LIMIT', 0, limit)
  else
    ids = redis.call('ZREVRANGEBYSCORE', set, high, low, 'LIMIT', 0, limit)
  end
  local records = {}
  for index, id in ipairs(ids) do
    records[reversed and #ids + 1 - index or index] = read(id)
  end
  return records
end

function commands.due(group, till, limit)
  local records = {}
  for index, found in ipairs(redis.call('ZRANGEBYSCORE', base .. 'due:' .. group, '-inf', till, 'LIMIT', 0, limit)) do
    records[index] = read(string.sub(found, 17))
  end
  return records
end

function commands.countDue(group, till)
  return redis.call('ZCOUNT', base .. 'due:' .. group, '-inf', till)
end

return commands[ARGV[1]](unpack(ARGV, 2, 9))
