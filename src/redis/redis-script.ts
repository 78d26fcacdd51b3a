import { AgentReachError } from '../core/index.ts';
import { OTHER_DATA_REPLY, redisFailure } from './redis-failure.ts';
import type { RedisLink } from './redis-link.ts';

/** Ahead of a script, which then finds its own keys and arguments: Redis may be emptied with no connection lost. */
const OVER_SAME_DATA = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('${OTHER_DATA_REPLY}') end
table.remove(KEYS, 1)
table.remove(ARGV, 1)`;

/**
 * Runs a script as one step, over the data that this instance has read and no other. Error: AR_ERR_STORE_UNAVAILABLE,
 * which says where Redis is and what became of it.
 */
export async function runScript(
  { redis, place, keys: { logId }, data }: RedisLink,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.eval(OVER_SAME_DATA + script, keys.length + 1, logId, ...keys, data, ...args);
  } catch (cause) {
    throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail: redisFailure(place, cause), cause });
  }
}
