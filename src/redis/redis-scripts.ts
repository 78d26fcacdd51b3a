/**
 * The atomic steps on Redis, each with the one guarantee it gives. Keys and arguments are listed above each.
 *
 * A script that was sent into a link that lost every packet may arrive minutes later, when whoever sent it has long been
 * told that it failed. So each says until when it counts, by Redis's own clock.
 */

/**
 * Names the data at the first start; answers the name, and the time in epoch milliseconds.
 * KEYS logId. ARGV a new name.
 */
export const OPEN = `
local now = redis.call('TIME')
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return { redis.call('GET', KEYS[1]), now[1] * 1000 + math.floor(now[2] / 1000) }`;

/**
 * Applies all writes and appends one entry to the log, or does nothing. Answers {1, position}, or {-1, 0} where Redis
 * holds other data than the writer read, {-2, newest position} where a row was changed after what the writer has read
 * (or a row that must be new is there), {-3, 0} where the writer ends a lease that is not due, or is not the sweeper,
 * {-4, 0} where it comes too late. Each answer ends with the time in epoch milliseconds.
 * KEYS logId, position, changes, recent, recentFloor, deadlines, fence, leases, then one table for each write.
 * ARGV logId, position read ('' = whatever it is), entry of the log ('' = none), longest log, most recent rows, fence
 * ('' = no sweeper), last moment that it counts ('' = any), then for each write: op, key, value. Letters of op: p put,
 * d delete, o the table keeps the order of its keys under its own key and `:order` (same hash tag, so same slot), n the
 * row must be new, l the row is logged, e the write ends a lease, a the row is an agent's, whose lease may be another one
 * from then on.
 */
export const COMMIT = `
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
if ARGV[7] ~= '' and nowMs > tonumber(ARGV[7]) then return {-4, 0, nowMs} end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {-1, 0, nowMs} end
local newest = redis.call('GET', KEYS[2]) or '0'
local read = ARGV[2] ~= '' and tonumber(ARGV[2])
local isLogged = ARGV[3] ~= ''
-- Redis was set back to before what the writer has read.
if read and isLogged and read > tonumber(newest) then return {-1, 0, nowMs} end
if read and isLogged and read < tonumber(redis.call('GET', KEYS[5]) or '0') then return {-2, tonumber(newest), nowMs} end
if ARGV[6] ~= '' and redis.call('GET', KEYS[7]) ~= ARGV[6] then return {-3, 0, nowMs} end
for i = 9, #KEYS do
  local at = 3 * i - 19
  local op, key = ARGV[at], ARGV[at + 1]
  if read and string.find(op, 'l', 1, true) then
    local changed = redis.call('ZSCORE', KEYS[4], KEYS[i] .. '/' .. key)
    if changed and tonumber(changed) > read then return {-2, tonumber(newest), nowMs} end
  end
  if string.find(op, 'n', 1, true) and redis.call('HEXISTS', KEYS[i], key) == 1 then
    return {-2, tonumber(newest), nowMs}
  end
  if string.find(op, 'e', 1, true) then
    local due = redis.call('ZSCORE', KEYS[6], key)
    if due and tonumber(due) > nowMs then return {-3, 0, nowMs} end
  end
end
local position = 0
if isLogged then
  position = redis.call('INCR', KEYS[2])
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], position .. '-0', 'at', nowMs, 'e', ARGV[3])
end
for i = 9, #KEYS do
  local at = 3 * i - 19
  local op, key = ARGV[at], ARGV[at + 1]
  local isPut = string.find(op, 'p', 1, true)
  if isPut then redis.call('HSET', KEYS[i], key, ARGV[at + 2]) else redis.call('HDEL', KEYS[i], key) end
  if string.find(op, 'o', 1, true) then
    if isPut then redis.call('ZADD', KEYS[i] .. ':order', 0, key) else redis.call('ZREM', KEYS[i] .. ':order', key) end
  end
  if string.find(op, 'l', 1, true) then redis.call('ZADD', KEYS[4], position, KEYS[i] .. '/' .. key) end
  if string.find(op, 'a', 1, true) then
    redis.call('HDEL', KEYS[8], key)
    if not isPut then redis.call('ZREM', KEYS[6], key) end
  end
end
local most = tonumber(ARGV[5])
local size = isLogged and redis.call('ZCARD', KEYS[4]) or 0
if size > 2 * most then
  local last = redis.call('ZRANGE', KEYS[4], size - most - 1, size - most - 1, 'WITHSCORES')
  redis.call('SET', KEYS[5], last[2])
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, size - most - 1)
end
return {1, position, nowMs}`;

/**
 * Puts off the end of the leases that are still the newest, by Redis's own clock, and tells the other instances.
 * Answers {1, time in epoch milliseconds}; nothing was done with {0, time}, it came too late, and with {-1, time}, Redis
 * was set back to before what the sender has read.
 * KEYS position, agents table, deadlines, beats, leases. ARGV position read ('' = whatever it is), instance, batch as
 * told, longest stream, last moment that it counts ('' = any), then for each beat: agentId, leaseId, milliseconds from
 * now.
 */
export const BEATS = `
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
if ARGV[5] ~= '' and nowMs > tonumber(ARGV[5]) then return {0, nowMs} end
if ARGV[1] ~= '' and tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[1]) or '0') then return {-1, nowMs} end
local ids = {}
for i = 6, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
local leases = redis.call('HMGET', KEYS[5], unpack(ids))
local due = {}
for n, id in ipairs(ids) do
  local at = 3 * n + 3
  local lease = leases[n]
  if lease ~= ARGV[at + 1] then
    local row = redis.call('HGET', KEYS[2], id)
    local isRead, agent = pcall(cjson.decode, row or '')
    lease = isRead and type(agent) == 'table' and agent.leaseId
    if lease then redis.call('HSET', KEYS[5], id, lease) end
  end
  if lease == ARGV[at + 1] then
    due[#due + 1] = nowMs + tonumber(ARGV[at + 2])
    due[#due + 1] = id
  end
end
if #due > 0 then redis.call('ZADD', KEYS[3], unpack(due)) end
redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], '*', 'by', ARGV[2], 'b', ARGV[3])
return {1, nowMs}`;

/** Writes what is there already, so that it fails where every write would. KEYS position. */
export const REWRITE = `
redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]) or '0')
return 1`;

/**
 * Keeps what was told at a position beside the one of before, in the place of the one before that; does nothing where
 * the newest is nearer. Answers the newest position.
 * KEYS told. ARGV position, what was told, least distance.
 */
export const CHECKPOINT = `
local newest = tonumber(redis.call('HGET', KEYS[1], 'newerAt') or '-1')
if newest >= 0 and tonumber(ARGV[1]) - newest < tonumber(ARGV[3]) then return newest end
if newest >= 0 then
  redis.call('HSET', KEYS[1], 'olderAt', newest, 'older', redis.call('HGET', KEYS[1], 'newer'))
end
redis.call('HSET', KEYS[1], 'newerAt', ARGV[1], 'newer', ARGV[2])
return tonumber(ARGV[1])`;

/**
 * Makes the instance the sweeper where nobody is, or keeps it that: answers its fence, 0 where another one is.
 * KEYS sweeper, fence. ARGV instance, milliseconds.
 */
export const ELECT = `
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if held then return tonumber(redis.call('GET', KEYS[2])) end
return redis.call('INCR', KEYS[2])`;

/** Makes room for another sweeper. KEYS sweeper. ARGV instance. */
export const RESIGN = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;
