import type { Clock } from '../core/index.ts';
import type { Redis } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import type { RedisTime } from './redis-time.ts';

/** One instance's way to the Redis that it shares. */
export interface RedisLink {
  readonly redis: Redis;
  /** Where that is, without a password. */
  readonly place: string;
  readonly keys: RedisKeys;
  /** Names the data that this instance has read: what is done there is done to no other. */
  readonly data: string;
  readonly clock: Clock;
  /** Of Redis, by that clock. */
  readonly time: RedisTime;
  /** Names this process among the instances. */
  readonly instance: string;
}
