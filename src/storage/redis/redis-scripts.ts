/** The atomic steps on Redis, each with the one guarantee it gives. Keys and arguments are listed above each. */

/**
 * Takes the lease when nobody holds it: answers the new fence, else minus the milliseconds that the holder's lasts.
 * KEYS owner, fence. ARGV token, leaseMs.
 */
export const ACQUIRE = `
local left = redis.call('PTTL', KEYS[1])
if left ~= -2 then return -math.max(left, 1) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('INCR', KEYS[2])`;

/**
 * Renews the lease of the newest owner, also one that lapsed while nobody else wanted it: 1, 0 when a newer owner came,
 * or -1 when there is no fence any more: Redis lost its data.
 * KEYS owner, fence. ARGV token, leaseMs, fence.
 */
export const RENEW = `
local fence = redis.call('GET', KEYS[2])
if not fence then return -1 end
if fence ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** Gives the lease back if it is still ours. KEYS owner. ARGV token. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/**
 * Applies all writes, or none when a newer owner came or the fence is gone: 1, 0 or -1.
 * KEYS fence, then one table for each write. ARGV fence, then for each write: 1 (put) or 0 (remove), key, value; 3 and 2
 * where the table also keeps the order of its keys, under its own key and `:order` (same hash tag, so same slot).
 */
export const COMMIT = `
local fence = redis.call('GET', KEYS[1])
if not fence then return -1 end
if fence ~= ARGV[1] then return 0 end
for i = 2, #KEYS do
  local at = 3 * i - 4
  local op = ARGV[at]
  if op == '1' or op == '3' then redis.call('HSET', KEYS[i], ARGV[at + 1], ARGV[at + 2])
  else redis.call('HDEL', KEYS[i], ARGV[at + 1]) end
  if op == '3' then redis.call('ZADD', KEYS[i] .. ':order', 0, ARGV[at + 1])
  elseif op == '2' then redis.call('ZREM', KEYS[i] .. ':order', ARGV[at + 1]) end
end
return 1`;
