/** A real redis-server for the tests of one suite, emptied before each of them. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { redisKeys } from '../../src/redis/index.ts';
import { TestRedis } from '../storage/redis-server.ts';

/** What the log is called: scripts do nothing over other data. */
export const DATA = 'the data of these instances';

export function freshRedis(onStart: (server: TestRedis, redis: Redis) => void): void {
  let server: TestRedis;
  let redis: Redis;
  beforeAll(async () => {
    server = await TestRedis.start();
    redis = new Redis(server.url);
    onStart(server, redis);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
    await redis.set(redisKeys().logId, DATA);
  });
}
