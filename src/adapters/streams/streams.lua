-- The log of a resumable stream: KEYS[1] is its record, KEYS[2] a Redis stream of its events.
-- An entry has whole events; its id is the number of the event after them, and `n` that of its first one.
local command = ARGV[1]

local function keep(ttl)
  redis.call('PEXPIRE', KEYS[1], ttl)
  redis.call('PEXPIRE', KEYS[2], ttl)
end

if command == 'open' then
  local holder, subscription, ttl = ARGV[2], ARGV[3], ARGV[4]
  redis.call('HSET', KEYS[1], 'holder', holder, 'subscription', subscription,
    'state', 'running', 'next', 0, 'first', 0, 'opening', '')
  redis.call('PEXPIRE', KEYS[1], ttl)
  return 1
end

local record = redis.call('HMGET', KEYS[1], 'holder', 'state', 'next')
if record[1] ~= ARGV[2] or record[2] ~= 'running' then return 0 end

-- By the gateway that writes it: 0 when another one has ended it, or Redis has lost it.
if command == 'append' then
  local n, next, text, first, opening, state, ttl =
    ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[9]
  if text ~= '' then
    redis.call('XADD', KEYS[2], next .. '-0', 'n', n, 'b', text)
    redis.call('HSET', KEYS[1], 'next', next)
  end
  if opening ~= '' then redis.call('HSET', KEYS[1], 'opening', opening) end
  if first > 0 then
    redis.call('XTRIM', KEYS[2], 'MINID', (first + 1) .. '-0')
    redis.call('HSET', KEYS[1], 'first', first)
  end
  redis.call('HSET', KEYS[1], 'state', state)
  keep(ttl)
  return 1
end

-- By a reader whose gateway has found the writer dead: the last events, once.
if command == 'lose' then
  local n, next, text = ARGV[3], ARGV[4], ARGV[5]
  if record[3] ~= n then return 0 end
  redis.call('XADD', KEYS[2], next .. '-0', 'n', n, 'b', text)
  redis.call('HSET', KEYS[1], 'next', next, 'state', 'ended', 'lost', n)
  return 1
end
return redis.error_reply('unknown command ' .. command)
