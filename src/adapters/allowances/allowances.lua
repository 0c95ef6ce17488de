--[[
What is used of allowances: each command is one atomic step. ARGV[1] names it, ARGV[2] is the time ('': the server's).
Times are microseconds, amounts whole numbers below 2^53. The constants leaseUs and usageChannel come from the adapter.

KEYS[1] is the prefix of a partition's keys: all in one slot, so a cluster accepts what is built from it.
  processes              sorted set: when each process counts as dead
  epoch                  a value that changes when Redis has lost its data
  usage                  sorted set: what was published on the channel of usage, by time
  held:<name>            hash: how much each process holds; it counts while the process is alive
  window:<name>:times    sorted set: entries by when they were reserved
  window:<name>:amounts  hash: how much each entry counts, behind a '*' while it is not settled
  window:<name>:memo     hash: all of them together, and those not settled; the last time seen; what was last reported
  window:<name>:own      hash: how much each process knows to be its own, while processes return from an outage
  period:<name>          hash: settled; reserved; seeded, once it is known what was used before
  of:<process>           hash: its reservations by id, as JSON; 'settled' until the process knows that they are
  shares:<process>       hash: how much of each period it may use while Redis is unavailable; counts as reserved
  dead                   sorted set: processes that died, by when what they left is to be looked up
]]
local prefix = KEYS[1]
local processes, epochKey, usage = prefix .. 'processes', prefix .. 'epoch', prefix .. 'usage'
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local day = 86400000

local function number(value) return tonumber(value) or 0 end
local function alive(process)
  local lease = redis.call('ZSCORE', processes, process)
  return lease and tonumber(lease) > now
end

-- Held: what dead processes held no longer counts, and counts again should they not be dead after all.
local held = {}
function held.used(claim, process)
  local sum, all = 0, redis.call('HGETALL', prefix .. 'held:' .. claim.name)
  for i = 1, #all, 2 do
    if all[i] == process or all[i] == 'lasting' or alive(all[i]) then sum = sum + all[i + 1] end
  end
  return sum, sum
end
function held.add(claim, process, amount)
  local key = prefix .. 'held:' .. claim.name
  if redis.call('HINCRBY', key, process, amount) <= 0 then redis.call('HDEL', key, process) end
end
function held.take(claim, process) held.add(claim, process, claim.amount) end
function held.settle(claim, process) held.add(claim, process, 0 - claim.amount) end
function held.wait() return -1 end

local window, times, amounts, memo = {}
local function open(claim)
  local key = prefix .. 'window:' .. claim.name
  times, amounts, memo = key .. ':times', key .. ':amounts', key .. ':memo'
end

local function count(entry, sign)
  local isReserved = string.sub(entry, 1, 1) == '*'
  -- Not -0, which is no integer to Redis.
  local amount = 0 + sign * tonumber(isReserved and string.sub(entry, 2) or entry)
  redis.call('HINCRBY', memo, 'total', amount)
  if isReserved then redis.call('HINCRBY', memo, 'reserved', amount) end
end

local function put(id, time, entry)
  local before = redis.call('HGET', amounts, id)
  if before then count(before, -1) end
  redis.call('ZADD', times, time, id)
  redis.call('HSET', amounts, id, entry)
  count(entry, 1)
end

local function keep(claim)
  redis.call('HSET', memo, 'clock', now)
  for _, key in ipairs({ times, amounts, memo }) do redis.call('PEXPIRE', key, math.ceil(claim.span / 1000)) end
end

-- When the server's clock was set back, all stored times move with it: nothing expires early or late.
local function follow()
  local back = (tonumber(redis.call('HGET', memo, 'clock')) or now) - now
  if back <= 0 then return end
  local all = redis.call('ZRANGE', times, 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do redis.call('ZADD', times, all[i + 1] - back, all[i]) end
  redis.call('HSET', memo, 'clock', now)
end

function window.used(claim)
  open(claim)
  follow()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', times, '-inf', now - claim.span)) do
    count(redis.call('HGET', amounts, id), -1)
    redis.call('HDEL', amounts, id)
    redis.call('ZREM', times, id)
  end
  local sums = redis.call('HMGET', memo, 'total', 'reserved')
  return number(sums[1]), number(sums[2])
end

-- Processes must know how full a window is before they lose Redis. From half of the limit on, each gets a report of the
-- most that may be used, in quarters of it; again once that is exceeded, or is older than a quarter of a window.
local function report(claim)
  local total = number(redis.call('HGET', memo, 'total'))
  if total * 2 < claim.limit then return end
  local last = redis.call('HMGET', memo, 'most', 'reported')
  local most, age = tonumber(last[1]), now - number(last[2])
  if most and total <= most and age >= 0 and age < claim.span / 4 then return end
  local step = math.ceil(claim.limit / 4)
  most = math.min(claim.limit, (math.floor(total / step) + 1) * step - 1)
  redis.call('HSET', memo, 'most', most, 'reported', now)
  local word = string.format('%.0f %s', most, claim.name)
  redis.call('ZREMRANGEBYSCORE', usage, '-inf', now - claim.span * 5 / 4)
  redis.call('ZADD', usage, now, word)
  redis.call('PEXPIRE', usage, math.ceil(claim.span / 800))
  redis.call('PUBLISH', usageChannel, word)
end

function window.take(claim, _, id, age)
  if age >= claim.span then return end
  open(claim)
  follow()
  put(id, now - age, string.format('*%.0f', claim.amount))
  keep(claim)
  report(claim)
end

function window.settle(claim, _, id, amount)
  open(claim)
  local time = redis.call('ZSCORE', times, id)
  if time then put(id, time, string.format('%.0f', amount)) end
end

-- Until no more than `most` counts. Of very many small entries the first thousand: by then there is some room again.
function window.wait(claim, most)
  local left, last = window.used(claim), 0
  for from = 0, 900, 100 do
    local some = redis.call('ZRANGE', times, from, from + 99, 'WITHSCORES')
    for i = 1, #some, 2 do
      local entry = string.gsub(redis.call('HGET', amounts, some[i]), '%*', '')
      left, last = left - entry, some[i + 1]
      if left <= most then return last + claim.span - now end
    end
  end
  return last + claim.span - now
end

local period = {}
local function periodKey(claim) return prefix .. 'period:' .. claim.name end
function period.used(claim)
  local sums = redis.call('HMGET', periodKey(claim), 'settled', 'reserved')
  return number(sums[1]) + number(sums[2]), number(sums[2])
end
-- A day longer than the period, for what is settled late; without an end for as long as it is used.
local function keepPeriod(claim)
  local left = claim.span and (claim.span - now) / 1000 or 39 * day
  redis.call('PEXPIRE', periodKey(claim), math.ceil(math.max(left, 0) + day))
end
function period.take(claim)
  redis.call('HINCRBY', periodKey(claim), 'reserved', claim.amount)
  keepPeriod(claim)
end
function period.settle(claim, _, _, amount)
  local key = periodKey(claim)
  -- One that has expired since is read from the ledger when it is next claimed.
  if redis.call('EXISTS', key) == 0 then return end
  redis.call('HINCRBY', key, 'reserved', 0 - claim.amount)
  redis.call('HINCRBY', key, 'settled', amount)
end
function period.wait() return -1 end

local kinds = { held = held, window = window, period = period }

-- kind, name, limit, amount, span (of a window its length, of a period its end or '')
local function readClaims(at)
  local claims = {}
  for i = at, #ARGV, 5 do
    table.insert(claims, {
      kind = ARGV[i], name = ARGV[i + 1],
      limit = tonumber(ARGV[i + 2]), amount = tonumber(ARGV[i + 3]), span = tonumber(ARGV[i + 4]),
    })
  end
  return claims
end

-- Numbers as text: JSON would round them.
local function encode(claims, age)
  local rows = {}
  for _, claim in ipairs(claims) do
    local span = claim.span and string.format('%.0f', claim.span) or ''
    table.insert(rows, { claim.kind, claim.name, string.format('%.0f', claim.amount), span })
  end
  return cjson.encode({ string.format('%.0f', now - age), rows })
end
local function decode(text)
  local claims, record = {}, cjson.decode(text)
  for _, row in ipairs(record[2]) do
    table.insert(claims, { kind = row[1], name = row[2], amount = tonumber(row[3]), span = tonumber(row[4]) })
  end
  return claims, tonumber(record[1])
end

local function reservations(process) return prefix .. 'of:' .. process end
-- Two claims of one reservation may be on the same window.
local function entryOf(id, index) return index == 1 and id or id .. '#' .. index end

-- Of each period claimed: settled, and used in all.
local function sumsOf(claims)
  local sums = {}
  for _, claim in ipairs(claims) do
    if claim.kind == 'period' then
      local used, reserved = period.used(claim)
      table.insert(sums, used - reserved)
      table.insert(sums, used)
    end
  end
  return sums
end

-- Returns its claims; nothing where it is unknown or was settled. `amountOf` says what each of them used.
local function settle(process, id, amountOf)
  local key = reservations(process)
  local record = redis.call('HGET', key, id)
  if not record or record == 'settled' then return nil end
  local claims = decode(record)
  for i, claim in ipairs(claims) do
    kinds[claim.kind].settle(claim, process, entryOf(id, i), amountOf(claim, i))
  end
  redis.call('HDEL', key, id)
  return claims
end

local commands = {}

-- process, id, epoch ('': unknown), age ('': a new one; else how old one is that may be known), claims
-- -> reserved, number of claims, left of each, sums of periods; exhausted, index, left, wait (-1: not by waiting); unseeded, indexes of periods; lost; taken
function commands.reserve(process, id, epoch, age)
  if epoch ~= '' and redis.call('GET', epochKey) ~= epoch then return { 'lost' } end
  local claims, key = readClaims(7), reservations(process)
  local known = redis.call('HGET', key, id)
  if known and age ~= '' then return { 'reserved' } end
  if known and known ~= 'settled' then return { 'taken' } end
  local left = {}
  if age == '' then
    local unseeded, needed = { 'unseeded' }, {}
    for i, claim in ipairs(claims) do
      if claim.kind == 'period' and redis.call('HEXISTS', periodKey(claim), 'seeded') == 0 then
        table.insert(unseeded, i)
      end
    end
    if #unseeded > 1 then return unseeded end
    for i, claim in ipairs(claims) do
      local used, amount = kinds[claim.kind].used(claim, process), (needed[claim.name] or 0) + claim.amount
      needed[claim.name] = amount
      if used + amount > claim.limit and claim.amount > 0 then
        local wait = amount <= claim.limit and kinds[claim.kind].wait(claim, claim.limit - amount) or -1
        return { 'exhausted', i, math.max(0, claim.limit - used), wait }
      end
      left[i] = math.max(0, claim.limit - used - amount)
    end
  end
  for i, claim in ipairs(claims) do
    kinds[claim.kind].take(claim, process, entryOf(id, i), number(age))
  end
  redis.call('HSET', key, id, encode(claims, number(age)))
  local reply = { 'reserved', #left, unpack(left) }
  for _, sum in ipairs(sumsOf(claims)) do table.insert(reply, sum) end
  return reply
end

-- process, id; what each claim used -> sums of periods
function commands.settle(process, id)
  local claims = settle(process, id, function(claim, i) return tonumber(ARGV[4 + i]) or claim.amount end)
  if not claims then return {} end
  if process ~= 'lasting' then redis.call('HSET', reservations(process), id, 'settled') end
  return sumsOf(claims)
end

-- process, id, cost -> 1 when it was reserved
function commands.charge(process, id, cost)
  local function used(claim) return claim.kind == 'period' and tonumber(cost) or claim.amount end
  return settle(process, id, used) and 1 or 0
end

-- name, end of the period or '', what was used before; the first counts
function commands.seed(name, span, spent)
  local claim = { name = name, span = tonumber(span) }
  local key = periodKey(claim)
  if redis.call('HSETNX', key, 'seeded', 1) == 0 then return end
  redis.call('HSET', key, 'settled', math.max(number(redis.call('HGET', key, 'settled')), tonumber(spent)))
  keepPeriod(claim)
end

-- name, end of the period or '', settled as last seen: Redis may have lost some of it
function commands.raise(name, span, settled)
  local claim = { name = name, span = tonumber(span) }
  local key = periodKey(claim)
  redis.call('HSET', key, 'settled', math.max(number(redis.call('HGET', key, 'settled')), tonumber(settled)))
  keepPeriod(claim)
end

-- process, name, length, how much of the window is its own: together processes know of most
function commands.recount(process, name, span, own)
  local claim = { name = name, span = tonumber(span) }
  local reports, sum = prefix .. 'window:' .. name .. ':own', 0
  redis.call('HSET', reports, process, string.format('%.0f %.0f', own, now))
  redis.call('PEXPIRE', reports, math.ceil(leaseUs / 500))
  for _, report in ipairs(redis.call('HVALS', reports)) do
    local amount, time = string.match(report, '(%d+) (%d+)')
    if now - time < leaseUs then sum = sum + amount end
  end
  local missing = sum - window.used(claim)
  if missing <= 0 then return end
  put(string.format('missing.%s.%.0f', process, now), now, string.format('%.0f', missing))
  keep(claim)
end

-- process, name, amount, limit -> how much of the period is its share now: no more than leaves a tenth of the limit
function commands.share(process, name, amount, limit)
  local claim, shares = { name = name }, prefix .. 'shares:' .. process
  if redis.call('HEXISTS', periodKey(claim), 'seeded') == 0 then return 0 end
  local before = number(redis.call('HGET', shares, name))
  local room = math.floor(tonumber(limit) * 0.9) - period.used(claim)
  amount = math.min(tonumber(amount), math.max(before, before + room))
  redis.call('HINCRBY', periodKey(claim), 'reserved', amount - before)
  if amount == 0 then redis.call('HDEL', shares, name) else redis.call('HSET', shares, name, amount) end
  return amount
end

-- process; ids that it knows to be settled
function commands.forget(process)
  for i = 4, #ARGV do
    if redis.call('HGET', reservations(process), ARGV[i]) == 'settled' then
      redis.call('HDEL', reservations(process), ARGV[i])
    end
  end
end

-- process; claims -> used and reserved of each; used is -1 for a period that is not seeded
function commands.used(process)
  local sums = {}
  for _, claim in ipairs(readClaims(4)) do
    local used, reserved = kinds[claim.kind].used(claim, process)
    local unseeded = claim.kind == 'period' and redis.call('HEXISTS', periodKey(claim), 'seeded') == 0
    table.insert(sums, unseeded and -1 or used)
    table.insert(sums, reserved)
  end
  return sums
end

-- process, whether its shares may have been used, when what is left is due
function commands.died(process, usedShares, due)
  redis.call('ZREM', processes, process)
  local shares = prefix .. 'shares:' .. process
  local all = redis.call('HGETALL', shares)
  for i = 1, #all, 2 do
    local claim = { name = all[i], amount = tonumber(all[i + 1]) }
    period.settle(claim, process, '', usedShares == '1' and claim.amount or 0)
  end
  redis.call('DEL', shares)
  redis.call('ZADD', prefix .. 'dead', now + due, process)
end

-- -> a process that died, and what it left: the time of the oldest, ids. Others come back to it in a minute.
function commands.due()
  local dead = prefix .. 'dead'
  local process = redis.call('ZRANGEBYSCORE', dead, '-inf', now, 'LIMIT', 0, 1)[1]
  if not process then return {} end
  redis.call('ZADD', dead, now + 60000000, process)
  local oldest, ids = now, {}
  local all = redis.call('HGETALL', reservations(process))
  for i = 1, #all, 2 do
    if all[i + 1] ~= 'settled' then
      local _, time = decode(all[i + 1])
      oldest = math.min(oldest, time)
      table.insert(ids, all[i])
    end
  end
  return { process, oldest, unpack(ids, 1, math.min(#ids, 5000)) }
end

-- process: what is left of it was never billed
function commands.release(process)
  for _, id in ipairs(redis.call('HKEYS', reservations(process))) do
    settle(process, id, function(claim) return claim.kind == 'window' and claim.amount or 0 end)
  end
  redis.call('DEL', reservations(process))
  redis.call('ZREM', prefix .. 'dead', process)
end

return commands[ARGV[1]](unpack(ARGV, 3, 6))
