/** What an instance says of itself over one Redis: nothing any more once it has left. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SharedIndex } from '../../src/app/shared-index.ts';
import { ManualClock } from '../../src/core/index.ts';
import { RedisStore } from '../../src/storage/index.ts';
import { VersionStore } from '../../src/vector-index/index.ts';
import { hasRedisServer, TestRedis } from '../storage/redis-server.ts';

describe.runIf(hasRedisServer)('an instance that stops', () => {
  let server: TestRedis;
  let store: RedisStore;
  beforeEach(async () => {
    server = await TestRedis.start();
    store = await RedisStore.open({ url: server.url });
  });
  afterEach(async () => {
    await store.close();
    await server.stop();
  });

  test('is not put back by what it was saying, nor by whoever asks afterwards', async () => {
    const index = new SharedIndex({
      store,
      clock: new ManualClock(),
      fingerprint: 'model-a',
      keepVersions: 3,
      versionStore: new VersionStore('unused'),
      assertOpen: () => undefined,
    });
    await index.announce();
    const { redis, keys, instance } = store.link;
    expect(await redis.hkeys(keys.instances)).toEqual([instance]);
    // A script that Redis has forgotten takes a second way there, past the leave.
    await redis.script('FLUSH');
    const asked = index.instances();
    await index.stop();
    await asked;
    await index.instances();
    expect(await redis.hkeys(keys.instances)).toEqual([]);
  });
});
