--[[
A heartbeat of one of the processes that share limits. Times are microseconds; ARGV[1] is the time ('': the server's).
The constants leaseUs and keptMs come from the adapter.

  KEYS[1] sorted set: processes by when they count as dead unless they report again
  KEYS[2] sorted set: those that start nothing which is not counted here, by when they said so
  KEYS[3] a value that changes when Redis has lost its data
  ARGV    time, process, since, whether it starts nothing that Redis does not count, epoch ('': unknown)

-> number of processes, how many of them reported and how many settled since then, this one's rank, time, epoch
]]
local lifeMs = math.ceil(leaseUs / 500)
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local processes, settled, epochKey = KEYS[1], KEYS[2], KEYS[3]
local process, since, isSettled, epoch = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
redis.call('ZADD', processes, now + leaseUs, process)
redis.call('ZREMRANGEBYSCORE', processes, '-inf', now)
redis.call('PEXPIRE', processes, lifeMs)
local current = redis.call('GET', epochKey) or string.format('%s.%.0f', process, now)
redis.call('SET', epochKey, current, 'PX', keptMs)
-- What it started before the data was lost is not counted any more.
if isSettled == '1' and (epoch == '' or epoch == current) then redis.call('ZADD', settled, now, process)
else redis.call('ZREM', settled, process) end
redis.call('ZREMRANGEBYSCORE', settled, '-inf', now - leaseUs)
redis.call('PEXPIRE', settled, lifeMs)
local rank, all = 0, redis.call('ZRANGE', processes, 0, -1)
for _, other in ipairs(all) do if other < process then rank = rank + 1 end end
return {
  #all,
  redis.call('ZCOUNT', processes, string.format('(%.0f', since + leaseUs), '+inf'),
  redis.call('ZCOUNT', settled, string.format('(%.0f', since), '+inf'),
  rank,
  now,
  current,
}
