--[[
The decisions of admission: each command is one atomic step. ARGV[1] names it, ARGV[2] is the time ('': the server's).
All times are microseconds. The constants windowUs, leaseUs, queueLength, queueUs, channels and usageChannel come from the
adapter.

KEYS[1] is the prefix of a partition's keys, the others are prefixes of gates in it: all in one slot, so a cluster accepts
what is built from them. A gate (a subscription and a model) is a few keys:
  alive   sorted set: ids that run or wait, by when they expire unless renewed
  queue   sorted set: ids that wait, by number; an id that is alive and not in the queue runs
  starts  list: times of the last starts, oldest first, as many as matter
  memo    hash: the latest limits, the queue's counter, the mean time a slot is held, when a slot last changed hands,
          the last time seen, what was last reported of the window and when
  own     hash: how many starts each process knows to be its own, while processes return from an outage
The partition has `usage`, a sorted set of what was published on the channel of usage, by time: how full windows are, for
processes that lose Redis; and `epoch`, a value that changes when Redis has lost its data. An id begins with `<process>.`;
each process subscribes to a channel of its own.
]]
local usage, epochKey = KEYS[1] .. 'usage', KEYS[1] .. 'epoch'
local windowMs, lifeMs = math.ceil(windowUs / 1000), math.ceil(leaseUs / 500)

local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local name, alive, queue, starts, memo
local function open(gate)
  name = gate
  alive, queue, starts, memo = gate .. 'alive', gate .. 'queue', gate .. 'starts', gate .. 'memo'
end

-- Unused keys expire: a gate after a window, what a dead process held after its lease.
local function keep()
  redis.call('PEXPIRE', alive, lifeMs)
  redis.call('PEXPIRE', memo, math.max(lifeMs, windowMs))
end

-- When the server's clock was set back, all stored times move with it: nothing expires early or late.
local function follow()
  local back = (tonumber(redis.call('HGET', memo, 'clock')) or now) - now
  if back <= 0 then return end
  local times = redis.call('LRANGE', starts, 0, -1)
  redis.call('DEL', starts)
  for _, time in ipairs(times) do redis.call('RPUSH', starts, time - back) end
  redis.call('PEXPIRE', starts, windowMs)
  local ends = redis.call('ZRANGE', alive, 0, -1, 'WITHSCORES')
  for i = 1, #ends, 2 do redis.call('ZADD', alive, ends[i + 1] - back, ends[i]) end
  redis.call('HSET', memo, 'clock', now, 'moved', now)
end

local function removeExpired()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', alive, '-inf', now)) do
    redis.call('ZREM', alive, id)
    redis.call('ZREM', queue, id)
  end
end

local function waiting() return redis.call('ZCARD', queue) end

-- Removes starts that no longer count.
local function prune()
  local first, past = redis.call('LINDEX', starts, 0), now - windowUs
  if not first or tonumber(first) > past then return end
  repeat
    local times, gone = redis.call('LRANGE', starts, 0, 99), 0
    while times[gone + 1] and tonumber(times[gone + 1]) <= past do gone = gone + 1 end
    if gone > 0 then redis.call('LTRIM', starts, gone, -1) end
  until gone < 100
end

-- Time until fewer than `limit` starts count. Those that no longer count are removed when they are in the way.
local function room(limit)
  if redis.call('LLEN', starts) < limit then return 0 end
  prune()
  local surplus = redis.call('LLEN', starts) - limit
  if surplus < 0 then return 0 end
  return redis.call('LINDEX', starts, surplus) + windowUs - now
end

-- Processes must know how full a window is before they lose Redis. From half of the limit on, each gets a report of the
-- most that may have started, in quarters of it; again once that is exceeded, or is older than a quarter of a window.
local function report(rate)
  if redis.call('LLEN', starts) * 2 < rate then return end
  prune()
  local count = redis.call('LLEN', starts)
  if count * 2 < rate then return end
  local last = redis.call('HMGET', memo, 'most', 'reported')
  local most, age = tonumber(last[1]), now - (tonumber(last[2]) or 0)
  if most and count <= most and age >= 0 and age < windowUs / 4 then return end
  local step = math.ceil(rate / 4)
  most = math.min(rate, (math.floor(count / step) + 1) * step - 1)
  redis.call('HSET', memo, 'most', most, 'reported', now)
  local word = string.format('%.0f %s', most, name)
  redis.call('ZREMRANGEBYSCORE', usage, '-inf', now - windowUs * 5 / 4)
  redis.call('ZADD', usage, now, word)
  redis.call('PEXPIRE', usage, math.ceil(windowMs * 5 / 4))
  redis.call('PUBLISH', usageChannel, word)
end

local function start(id, rate)
  redis.call('RPUSH', starts, now)
  redis.call('PEXPIRE', starts, windowMs)
  redis.call('ZADD', alive, now + leaseUs, id)
  report(rate)
end

-- When a new request may expect to start: behind the waiters, and not before the window has room.
local function estimate(concurrency, rate)
  local seen = redis.call('HMGET', memo, 'hold', 'moved')
  local pace = math.max((tonumber(seen[1]) or 0) / concurrency, now - (tonumber(seen[2]) or now))
  return math.max((waiting() + 1) * pace, room(rate))
end

-- Free slots are given to the queue, first in first out; a process is notified of all its own in one message.
local function serve(concurrency, rate)
  local free = concurrency - (redis.call('ZCARD', alive) - waiting())
  local news, moved = {}, false
  while free > 0 do
    local id = redis.call('ZRANGE', queue, 0, 0)[1]
    if not id then break end
    redis.call('ZREM', queue, id)
    local wait, word = room(rate), id
    if wait > 0 then
      redis.call('ZREM', alive, id)
      word = string.format('%s=%.0f=requests_per_minute', id, wait)
    else
      start(id, rate)
      free, moved = free - 1, true
    end
    local process = string.match(id, '^[^.]+')
    news[process] = news[process] and (news[process] .. ' ' .. word) or word
  end
  if moved then redis.call('HSET', memo, 'moved', now) end
  for process, words in pairs(news) do redis.call('PUBLISH', channels .. process, words) end
end

local function serveAsBefore()
  local known = redis.call('HMGET', memo, 'concurrency', 'rate')
  if known[1] then serve(tonumber(known[1]), tonumber(known[2])) end
end

local commands = {}

-- Numbers are whole: an estimate has a fraction.
local function reply(kind, number, limit)
  local text = string.format('%s=%.0f', kind, number)
  return limit and (text .. '=' .. limit) or text
end

-- started=starts in the window; waits=position; rateReached=wait=limit; or queueFull=wait
local function decide(id, concurrency, rate)
  local living, ahead = redis.call('ZCARD', alive), waiting()
  -- What was measured before the gate was empty no longer applies.
  if living == 0 and room(1) == 0 then redis.call('HDEL', memo, 'hold', 'moved') end
  if ahead > 0 and living - ahead < concurrency then
    serve(concurrency, rate)
    living, ahead = redis.call('ZCARD', alive), waiting()
  end
  local answer
  if ahead == 0 and living < concurrency then
    local wait = room(rate)
    if wait > 0 then answer = reply('rateReached', wait, 'requests_per_minute')
    else
      start(id, rate)
      redis.call('HSET', memo, 'moved', now, 'concurrency', concurrency, 'rate', rate, 'clock', now)
      keep()
      prune()
      return reply('started', redis.call('LLEN', starts))
    end
  elseif ahead >= math.min(queueLength, rate) then answer = reply('queueFull', estimate(concurrency, rate))
  else
    local wait = room(rate - ahead)
    if wait > queueUs then answer = reply('rateReached', wait, 'requests_per_minute')
    else
      redis.call('ZADD', queue, redis.call('HINCRBY', memo, 'counter', 1), id)
      redis.call('PEXPIRE', queue, lifeMs)
      redis.call('ZADD', alive, now + leaseUs, id)
      answer = reply('waits', ahead + 1)
    end
  end
  redis.call('HSET', memo, 'concurrency', concurrency, 'rate', rate, 'clock', now)
  keep()
  return answer
end

-- Lists are one text each, words with spaces in between: a text is much cheaper to send and to read than an array.
-- gate; concurrency, rate, epoch ('': unknown), ids -> of each id what `decide` says, or lost (the data, since that epoch)
function commands.admit(concurrency, rate, epoch, ids)
  local decisions, lost = {}, epoch ~= '' and redis.call('GET', epochKey) ~= epoch
  concurrency, rate = tonumber(concurrency), tonumber(rate)
  open(KEYS[2])
  if not lost then
    follow()
    removeExpired()
  end
  for id in string.gmatch(ids, '%S+') do
    table.insert(decisions, lost and 'lost' or decide(id, concurrency, rate))
  end
  return table.concat(decisions, ' ')
end

-- gate; id=time held: removes runners and waiters. Repeating it has no effect.
function commands.release(releases)
  open(KEYS[2])
  local hold, moved = tonumber(redis.call('HGET', memo, 'hold')), false
  for id, text in string.gmatch(releases, '(%S+)=(%S+)') do
    local held = tonumber(text)
    local waited = redis.call('ZREM', queue, id)
    if redis.call('ZREM', alive, id) == 1 and waited == 0 then
      hold = hold or held
      hold, moved = hold + (held - hold) / 8, true
    end
  end
  if moved then redis.call('HSET', memo, 'hold', hold, 'moved', now) end
  if waiting() > 0 then
    follow()
    removeExpired()
    serveAsBefore()
  end
end

-- gate; id -> ends its wait unless it was started: waits (no longer), estimate; runs; unknown
function commands.giveUp(id)
  open(KEYS[2])
  if redis.call('ZREM', queue, id) == 1 then
    redis.call('ZREM', alive, id)
    follow()
    local known = redis.call('HMGET', memo, 'concurrency', 'rate')
    return { 'waits', known[1] and estimate(tonumber(known[1]), tonumber(known[2])) or 0 }
  end
  return { redis.call('ZSCORE', alive, id) and 'runs' or 'unknown' }
end

-- A Redis that lost data has fewer starts than its processes made: together they know of most.
local function recount(process, own)
  local reports, sum = name .. 'own', 0
  redis.call('HSET', reports, process, string.format('%.0f %.0f', own, now))
  redis.call('PEXPIRE', reports, lifeMs)
  for _, report in ipairs(redis.call('HVALS', reports)) do
    local count, time = string.match(report, '(%d+) (%d+)')
    if now - time < leaseUs then sum = sum + count end
  end
  prune()
  for _ = redis.call('LLEN', starts) + 1, sum do redis.call('RPUSH', starts, now) end
end

-- gates; process; for each gate: starts to be counted from now on, all that are its own (-1: as known), rate limit
-- (0: as known), number of runners and of waiters, their ids -> the standing of all waiters. Runners count whether they
-- were known or not. Expired slots are found here.
function commands.renew(process)
  local standings, at = {}, 4
  for place = 2, #KEYS do
    open(KEYS[place])
    local unreported, own, rate = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local runners, waiters = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    at = at + 5
    follow()
    if own >= 0 then
      for _ = 1, unreported do redis.call('RPUSH', starts, now) end
      recount(process, own)
      redis.call('PEXPIRE', starts, windowMs)
      if rate == 0 then rate = tonumber(redis.call('HGET', memo, 'rate')) or 0 end
      if rate > 0 then report(rate) end
    end
    for i = at, at + runners - 1 do redis.call('ZADD', alive, now + leaseUs, ARGV[i]) end
    at = at + runners
    for i = at, at + waiters - 1 do redis.call('ZADD', alive, 'XX', now + leaseUs, ARGV[i]) end
    removeExpired()
    if waiting() > 0 then serveAsBefore() end
    for i = at, at + waiters - 1 do
      local standing = 'unknown'
      if redis.call('ZSCORE', queue, ARGV[i]) then standing = 'waits'
      elseif redis.call('ZSCORE', alive, ARGV[i]) then standing = 'runs' end
      table.insert(standings, standing)
    end
    at = at + waiters
    redis.call('HSET', memo, 'clock', now)
    redis.call('PEXPIRE', queue, lifeMs)
    keep()
  end
  return standings
end

-- Not all of ARGV: lists of ids may be more than the stack holds, and are read by the commands themselves.
return commands[ARGV[1]](unpack(ARGV, 3, 6))
