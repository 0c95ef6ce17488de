/**
 * The decisions of admission as Lua, each one atomic step in Redis. Four keys make a gate:
 * `alive`: ids of all who run or wait → when they are taken for dead unless renewed;
 * `queue`: ids of those who wait → their number; who is alive and not in the queue runs;
 * `starts`: the times of the starts that count, oldest first;
 * `memo`: the latest limits, the queue's counter, how long slots are held, when one last changed hands.
 * All times are microseconds of the server's clock. An id is `<process>.<number>`; the process hears on its own channel.
 */
import { script } from '../redis.ts';

const common = `
local window, ttl, channel = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function gate(first)
  return { alive = KEYS[first], queue = KEYS[first + 1], starts = KEYS[first + 2], memo = KEYS[first + 3] }
end

-- Nothing outlives its use: a dead gate is gone after a window, a dead process after its time.
local function keep(g)
  local life = math.ceil(ttl / 500)
  redis.call('PEXPIRE', g.alive, life)
  redis.call('PEXPIRE', g.queue, life)
  redis.call('PEXPIRE', g.memo, math.max(life, math.ceil(window / 1000)))
end

local function extend(g, id)
  redis.call('ZADD', g.alive, now + ttl, id)
end

-- The server's clock was set back: what seems to come from the future counts from now on. So nothing is forgotten
-- early, and nothing is remembered for longer than a window.
local function follow(g)
  local last = tonumber(redis.call('LINDEX', g.starts, -1) or 0)
  if last > now then
    local times = redis.call('LRANGE', g.starts, 0, -1)
    redis.call('DEL', g.starts)
    for _, time in ipairs(times) do redis.call('RPUSH', g.starts, time - (last - now)) end
    redis.call('PEXPIRE', g.starts, math.ceil(window / 1000))
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', g.alive, string.format('(%.0f', now + ttl), '+inf')) do
    extend(g, id)
  end
end

local function bury(g)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', g.alive, '-inf', now)) do
    redis.call('ZREM', g.alive, id)
    redis.call('ZREM', g.queue, id)
  end
end

local function waiting(g) return redis.call('ZCARD', g.queue) end
local function running(g) return redis.call('ZCARD', g.alive) - waiting(g) end

local function trim(g)
  local past = now - window
  if tonumber(redis.call('LINDEX', g.starts, 0) or now) > past then return end
  repeat
    local times, gone = redis.call('LRANGE', g.starts, 0, 99), 0
    while times[gone + 1] and tonumber(times[gone + 1]) <= past do gone = gone + 1 end
    redis.call('LTRIM', g.starts, gone, -1)
  until gone < 100
end

-- Time until fewer than so many starts count.
local function room(g, limit)
  trim(g)
  local surplus = redis.call('LLEN', g.starts) - limit
  if surplus < 0 then return 0 end
  return redis.call('LINDEX', g.starts, surplus) + window - now
end

local function start(g, id)
  redis.call('RPUSH', g.starts, now)
  redis.call('PEXPIRE', g.starts, math.ceil(window / 1000))
  redis.call('HSET', g.memo, 'moved', now)
  extend(g, id)
end

local function limits(g)
  local known = redis.call('HMGET', g.memo, 'concurrency', 'rate')
  return tonumber(known[1]), tonumber(known[2])
end

-- When one who comes again may expect to start: behind those who wait, and not before the window has room.
local function turn(g, concurrency, rate)
  if not concurrency then return 0 end
  local seen = redis.call('HMGET', g.memo, 'hold', 'moved')
  local pace = math.max((tonumber(seen[1]) or 0) / concurrency, now - (tonumber(seen[2]) or now))
  return math.max((waiting(g) + 1) * pace, room(g, rate))
end

-- Free slots go to the line, first come first served; a process hears of all its own in one message.
local function serve(g)
  local concurrency, rate = limits(g)
  if not concurrency then return end
  local news = {}
  for _ = running(g) + 1, concurrency do
    local id, wait
    repeat
      id = redis.call('ZRANGE', g.queue, 0, 0)[1]
      if not id then break end
      redis.call('ZREM', g.queue, id)
      wait = room(g, rate)
      local process = string.match(id, '^[^.]+')
      news[process] = news[process] or {}
      if wait > 0 then
        redis.call('ZREM', g.alive, id)
        table.insert(news[process], string.format('%s=%.0f', id, wait))
      else
        start(g, id)
        table.insert(news[process], id)
      end
    until wait == 0
    if not id then break end
  end
  for process, words in pairs(news) do redis.call('PUBLISH', channel .. process, table.concat(words, ' ')) end
end
`;

/** What a reply begins with. */
export const verdict = { started: 0, waits: 1, rateReached: 2, queueFull: 3 } as const;

/** id, concurrency, rate, queue length, longest wait → started; waits, place; rateReached, wait; queueFull, wait. */
export const admit = script(`${common}
local g, id = gate(1), ARGV[5]
local concurrency, rate, length, longest = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
follow(g)
bury(g)
-- What was seen before everybody had gone says nothing of today.
if redis.call('ZCARD', g.alive) == 0 and room(g, 1) == 0 then redis.call('HDEL', g.memo, 'hold', 'moved') end
redis.call('HSET', g.memo, 'concurrency', concurrency, 'rate', rate)
if waiting(g) > 0 and running(g) < concurrency then serve(g) end
local ahead = waiting(g)
if ahead == 0 and running(g) < concurrency then
  local wait = room(g, rate)
  if wait > 0 then
    keep(g)
    return { ${verdict.rateReached}, wait }
  end
  start(g, id)
  keep(g)
  return { ${verdict.started} }
end
keep(g)
if ahead >= math.min(length, rate) then return { ${verdict.queueFull}, turn(g, concurrency, rate) } end
local wait = room(g, rate - ahead)
if wait > longest then return { ${verdict.rateReached}, wait } end
redis.call('ZADD', g.queue, redis.call('HINCRBY', g.memo, 'counter', 1), id)
extend(g, id)
keep(g)
return { ${verdict.waits}, ahead + 1 }
`);

/** id, time held → whoever it was, it is no more: a slot or a place in the queue is free. Done twice it does nothing. */
export const release = script(`${common}
local g, id, held = gate(1), ARGV[5], tonumber(ARGV[6])
local waited = redis.call('ZREM', g.queue, id)
if redis.call('ZREM', g.alive, id) == 1 and waited == 0 then
  local hold = tonumber(redis.call('HGET', g.memo, 'hold') or held)
  redis.call('HSET', g.memo, 'hold', hold + (held - hold) / 8, 'moved', now)
  keep(g)
end
if waiting(g) > 0 then
  follow(g)
  bury(g)
  serve(g)
end
`);

export const standing = { waits: 0, runs: 1, unknown: 2 } as const;

/** id → its wait is over unless its turn has come: waits (and does no more), estimate; runs; unknown. */
export const giveUp = script(`${common}
local g, id = gate(1), ARGV[5]
if redis.call('ZREM', g.queue, id) == 1 then
  redis.call('ZREM', g.alive, id)
  follow(g)
  return { ${standing.waits}, turn(g, limits(g)) }
end
if redis.call('ZSCORE', g.alive, id) then return { ${standing.runs} } end
return { ${standing.unknown} }
`);

/**
 * For each gate: starts to be counted from now on, numbers of runners and waiters, their ids → the standing of all waiters.
 * Runners count whether they were known or not: they do run. This is also where the slots of the dead are found.
 */
export const renew = script(`${common}
local standings, at = {}, 5
for first = 1, #KEYS, 4 do
  local g, starts, runners, waiters = gate(first), ARGV[at], ARGV[at + 1], ARGV[at + 2]
  at = at + 3
  follow(g)
  for _ = 1, starts do redis.call('RPUSH', g.starts, now) end
  if tonumber(starts) > 0 then redis.call('PEXPIRE', g.starts, math.ceil(window / 1000)) end
  for i = at, at + runners - 1 do extend(g, ARGV[i]) end
  at = at + runners
  for i = at, at + waiters - 1 do
    if redis.call('ZSCORE', g.alive, ARGV[i]) then extend(g, ARGV[i]) end
  end
  bury(g)
  if waiting(g) > 0 then serve(g) end
  for i = at, at + waiters - 1 do
    local standing = ${standing.unknown}
    if redis.call('ZSCORE', g.queue, ARGV[i]) then standing = ${standing.waits}
    elseif redis.call('ZSCORE', g.alive, ARGV[i]) then standing = ${standing.runs} end
    table.insert(standings, standing)
  end
  at = at + waiters
  keep(g)
end
return standings
`);

/** process → how many processes there are. */
export const heartbeat = script(`${common}
redis.call('ZADD', KEYS[1], now + ttl, ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(ttl / 500))
return redis.call('ZCARD', KEYS[1])
`);
