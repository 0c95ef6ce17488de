/**
 * The decisions of admission as Lua, each one atomic step in Redis. A gate is four keys that begin alike:
 * `alive`: ids of all who run or wait → when they are taken for dead unless renewed;
 * `queue`: ids of those who wait → their number; who is alive and not in the queue runs;
 * `starts`: the times of the last starts, oldest first, as many as matter;
 * `memo`: the latest limits, the queue's counter, how long slots are held, when one last changed hands, the last time seen.
 * All times are microseconds of the server's clock. An id is `<process>.<number>`; a process hears on its own channel.
 */
import { type Script, script } from '../redis.ts';

export interface ScriptSettings {
  /** First part of the name of every process's channel. */
  readonly channels: string;
  readonly windowUs: number;
  readonly leaseUs: number;
  readonly queueLength: number;
  readonly queueUs: number;
}

/** What the answer to `admit` begins with. */
export const verdict = { started: 0, waits: 1, rateReached: 2, queueFull: 3 } as const;
export const standing = { waits: 0, runs: 1, unknown: 2 } as const;

export interface Scripts {
  /** gate; time, id, concurrency, rate → started; waits, place; rateReached, wait; queueFull, wait. */
  readonly admit: Script;
  /** gate; time, id, time held → whoever it was, it is no more. Done twice it does nothing. */
  readonly release: Script;
  /** gate; time, id → its wait is over unless its turn has come: waits (and does no more), estimate; runs; unknown. */
  readonly giveUp: Script;
  /**
   * gates; time, then for each gate starts to be counted from now on, numbers of runners and waiters, their ids → the
   * standing of all waiters. Runners count whether they were known or not: they do run. Here the slots of the dead are found.
   */
  readonly renew: Script;
  /** processes; time, process, since → how many processes there are, how many of them were heard of since, time. */
  readonly heartbeat: Script;
}

export const createScripts = (settings: ScriptSettings): Scripts => {
  const { windowUs, leaseUs, queueLength, queueUs, channels } = settings;
  const windowMs = Math.ceil(windowUs / 1000);
  const lifeMs = Math.ceil(leaseUs / 500);

  const time = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
`;

  const common = `${time}
local alive, queue, starts, memo
local function open(gate)
  alive, queue, starts, memo = gate .. 'alive', gate .. 'queue', gate .. 'starts', gate .. 'memo'
end

-- Nothing outlives its use: a gate is gone after a window, a dead process after its time.
local function keep()
  redis.call('PEXPIRE', alive, ${lifeMs})
  redis.call('PEXPIRE', memo, ${Math.max(lifeMs, windowMs)})
end

-- When the server's clock was set back, all that is remembered moves with it: nothing is forgotten early or kept too long.
local function follow()
  local back = (tonumber(redis.call('HGET', memo, 'clock')) or now) - now
  if back <= 0 then return end
  local times = redis.call('LRANGE', starts, 0, -1)
  redis.call('DEL', starts)
  for _, time in ipairs(times) do redis.call('RPUSH', starts, time - back) end
  redis.call('PEXPIRE', starts, ${windowMs})
  local ends = redis.call('ZRANGE', alive, 0, -1, 'WITHSCORES')
  for i = 1, #ends, 2 do redis.call('ZADD', alive, ends[i + 1] - back, ends[i]) end
  redis.call('HSET', memo, 'clock', now, 'moved', now)
end

local function bury()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', alive, '-inf', now)) do
    redis.call('ZREM', alive, id)
    redis.call('ZREM', queue, id)
  end
end

local function waiting() return redis.call('ZCARD', queue) end

-- Time until fewer than so many starts count. Those that count no longer go when they are in the way.
local function room(limit)
  local surplus = redis.call('LLEN', starts) - limit
  if surplus < 0 then return 0 end
  local past = now - ${windowUs}
  repeat
    local times, gone = redis.call('LRANGE', starts, 0, 99), 0
    while times[gone + 1] and tonumber(times[gone + 1]) <= past do gone = gone + 1 end
    if gone > 0 then redis.call('LTRIM', starts, gone, -1) end
    surplus = surplus - gone
  until gone < 100
  if surplus < 0 then return 0 end
  return redis.call('LINDEX', starts, surplus) + ${windowUs} - now
end

local function start(id)
  redis.call('RPUSH', starts, now)
  redis.call('PEXPIRE', starts, ${windowMs})
  redis.call('ZADD', alive, now + ${leaseUs}, id)
end

-- When one who comes again may expect to start: behind those who wait, and not before the window has room.
local function turn(concurrency, rate)
  local seen = redis.call('HMGET', memo, 'hold', 'moved')
  local pace = math.max((tonumber(seen[1]) or 0) / concurrency, now - (tonumber(seen[2]) or now))
  return math.max((waiting() + 1) * pace, room(rate))
end

-- Free slots go to the line, first come first served; a process hears of all its own in one message.
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
      word = string.format('%s=%.0f', id, wait)
    else
      start(id)
      free, moved = free - 1, true
    end
    local process = string.match(id, '^[^.]+')
    news[process] = news[process] and (news[process] .. ' ' .. word) or word
  end
  if moved then redis.call('HSET', memo, 'moved', now) end
  for process, words in pairs(news) do redis.call('PUBLISH', '${channels}' .. process, words) end
end

local function serveAsBefore()
  local known = redis.call('HMGET', memo, 'concurrency', 'rate')
  if known[1] then serve(tonumber(known[1]), tonumber(known[2])) end
end
`;

  return {
    admit: script(`${common}
open(KEYS[1])
local id, concurrency, rate = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
follow()
bury()
local living, ahead = redis.call('ZCARD', alive), waiting()
-- What was seen before everybody had gone says nothing of today.
if living == 0 and room(1) == 0 then redis.call('HDEL', memo, 'hold', 'moved') end
if ahead > 0 and living - ahead < concurrency then
  serve(concurrency, rate)
  living, ahead = redis.call('ZCARD', alive), waiting()
end
local answer
if ahead == 0 and living < concurrency then
  local wait = room(rate)
  if wait > 0 then answer = { ${verdict.rateReached}, wait }
  else
    start(id)
    redis.call('HSET', memo, 'moved', now, 'concurrency', concurrency, 'rate', rate, 'clock', now)
    keep()
    return { ${verdict.started} }
  end
elseif ahead >= math.min(${queueLength}, rate) then answer = { ${verdict.queueFull}, turn(concurrency, rate) }
else
  local wait = room(rate - ahead)
  if wait > ${queueUs} then answer = { ${verdict.rateReached}, wait }
  else
    redis.call('ZADD', queue, redis.call('HINCRBY', memo, 'counter', 1), id)
    redis.call('PEXPIRE', queue, ${lifeMs})
    redis.call('ZADD', alive, now + ${leaseUs}, id)
    answer = { ${verdict.waits}, ahead + 1 }
  end
end
redis.call('HSET', memo, 'concurrency', concurrency, 'rate', rate, 'clock', now)
keep()
return answer
`),

    release: script(`${common}
open(KEYS[1])
local id, held = ARGV[2], tonumber(ARGV[3])
local waited = redis.call('ZREM', queue, id)
if redis.call('ZREM', alive, id) == 1 and waited == 0 then
  local hold = tonumber(redis.call('HGET', memo, 'hold')) or held
  redis.call('HSET', memo, 'hold', hold + (held - hold) / 8, 'moved', now)
end
if waiting() > 0 then
  follow()
  bury()
  serveAsBefore()
end
`),

    giveUp: script(`${common}
open(KEYS[1])
local id = ARGV[2]
if redis.call('ZREM', queue, id) == 1 then
  redis.call('ZREM', alive, id)
  follow()
  local known = redis.call('HMGET', memo, 'concurrency', 'rate')
  return { ${standing.waits}, known[1] and turn(tonumber(known[1]), tonumber(known[2])) or 0 }
end
return { redis.call('ZSCORE', alive, id) and ${standing.runs} or ${standing.unknown} }
`),

    renew: script(`${common}
local standings, at = {}, 2
for _, key in ipairs(KEYS) do
  open(key)
  local unheard, runners, waiters = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  at = at + 3
  follow()
  for _ = 1, unheard do redis.call('RPUSH', starts, now) end
  if unheard > 0 then redis.call('PEXPIRE', starts, ${windowMs}) end
  for i = at, at + runners - 1 do redis.call('ZADD', alive, now + ${leaseUs}, ARGV[i]) end
  at = at + runners
  for i = at, at + waiters - 1 do redis.call('ZADD', alive, 'XX', now + ${leaseUs}, ARGV[i]) end
  bury()
  if waiting() > 0 then serveAsBefore() end
  for i = at, at + waiters - 1 do
    local standing = ${standing.unknown}
    if redis.call('ZSCORE', queue, ARGV[i]) then standing = ${standing.waits}
    elseif redis.call('ZSCORE', alive, ARGV[i]) then standing = ${standing.runs} end
    table.insert(standings, standing)
  end
  at = at + waiters
  redis.call('HSET', memo, 'clock', now)
  redis.call('PEXPIRE', queue, ${lifeMs})
  keep()
end
return standings
`),

    heartbeat: script(`${time}
redis.call('ZADD', KEYS[1], now + ${leaseUs}, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ${lifeMs})
local since = string.format('(%.0f', ARGV[3] + ${leaseUs})
return { redis.call('ZCARD', KEYS[1]), redis.call('ZCOUNT', KEYS[1], since, '+inf'), now }
`),
  };
};
