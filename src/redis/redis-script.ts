import { AgentReachError } from '../core/index.ts';
import { redisFailure } from './redis-failure.ts';
import type { RedisLink } from './redis-link.ts';

/** Runs a script as one step. Error: AR_ERR_STORE_UNAVAILABLE, which says where Redis is and what became of it. */
export async function runScript(
  { redis, place }: RedisLink,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.eval(script, keys.length, ...keys, ...args);
  } catch (cause) {
    throw new AgentReachError('AR_ERR_STORE_UNAVAILABLE', { detail: redisFailure(place, cause), cause });
  }
}
