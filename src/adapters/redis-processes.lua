--[[
A heartbeat of one of the processes that share limits, to one partition. Times are microseconds; ARGV[1] is the time
('': the server's). The constants leaseUs and keptMs come from the adapter.

KEYS[1] is the prefix of the partition's keys, which are in one slot:
  processes  sorted set: processes by when they count as dead unless they report again
  settled    sorted set: those that start nothing which is not counted here, by when they said so
  epoch      a value that changes when Redis has lost its data, or may have: its last part is the server that gave it
  ARGV       time, process, since, whether it starts nothing that Redis does not count, epoch ('': unknown)

-> number of processes, how many of them reported and how many settled since then, this one's rank, time, epoch
]]
local lifeMs = math.ceil(leaseUs / 500)
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local base = KEYS[1]
local processes, settled, epochKey = base .. 'processes', base .. 'settled', base .. 'epoch'
local process, since, isSettled, epoch = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
redis.call('ZADD', processes, now + leaseUs, process)
redis.call('ZREMRANGEBYSCORE', processes, '-inf', now)
redis.call('PEXPIRE', processes, lifeMs)
-- A replica that has become primary, or a server that was started again, may not have the last changes. Where INFO is
-- not allowed, lost connections are the only sign of it.
local info = redis.pcall('INFO', 'server')
local server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local current = redis.call('GET', epochKey)
if not current or string.match(current, '%w*$') ~= server then
  current = string.format('%s.%.0f.%s', process, now, server)
end
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
