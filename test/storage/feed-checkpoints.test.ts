/** What an instance that starts late finds of the past: two checkpoints of the feed, and the kept end of the log. */
import type { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/index.ts';
import { RedisTime, redisKeys } from '../../src/redis/index.ts';
import { FeedCheckpoints, RedisStore } from '../../src/storage/index.ts';
import { DATA, freshRedis } from '../redis/fresh-redis.ts';
import { hasRedisServer, type TestRedis } from './redis-server.ts';

const keys = redisKeys();

describe.runIf(hasRedisServer)('the past of the change feed', () => {
  let server: TestRedis;
  let redis: Redis;
  freshRedis((started, client) => {
    server = started;
    redis = client;
  });

  function checkpoints(): FeedCheckpoints {
    const time = new RedisTime();
    const link = { redis, place: server.url, keys, data: DATA, clock: systemClock, time, instance: 'a' };
    return new FeedCheckpoints(link, 10);
  }

  test('keeps the newest two that are far enough apart, whoever writes them', async () => {
    const [one, other] = [checkpoints(), checkpoints()];
    expect(await one.load()).toEqual([]);
    expect(one.isDue(0)).toBe(true);
    await one.save({ position: 3, told: 'c' });
    expect([one.isDue(12), one.isDue(13)]).toEqual([false, true]);
    await other.save({ position: 9, told: 'too near' });
    expect(other.isDue(12)).toBe(false);
    expect(await one.load()).toEqual([{ position: 3, told: 'c' }]);
    await other.save({ position: 13, told: 'd' });
    await one.save({ position: 30, told: 'e' });
    expect(await other.load()).toEqual([
      { position: 13, told: 'd' },
      { position: 30, told: 'e' },
    ]);
  });

  async function opened(): Promise<RedisStore> {
    const store = await RedisStore.open({ url: server.url, logEntries: 10 });
    onTestFinished(() => store.close());
    return store;
  }

  test('reads what is kept of the log in order, and refuses what was trimmed', async () => {
    const writer = await opened();
    const put = (i: number) => writer.commit([{ table: 'agents', key: `k${i}`, value: Uint8Array.of(i % 256) }]);
    for (let i = 0; i < 400; i++) await put(i);
    const late = await opened();
    const end = late.log.position;
    const seen: number[] = [];
    for await (const { position, writes } of late.log.kept(end - 5)) {
      expect(writes[0]?.key).toBe(`k${position - 2}`);
      seen.push(position);
    }
    expect(seen).toEqual([end - 4, end - 3, end - 2, end - 1, end]);
    await expect(late.log.kept(1).next()).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    expect(await late.log.kept(end).next()).toMatchObject({ done: true });
  });
});
