import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { redisKeys } from '../../src/redis/index.ts';
import { LmdbStore, RedisStore } from '../../src/storage/index.ts';
import { runDomainStoreContracts } from '../contracts/domain-stores.contract.ts';
import { runKeyValueStoreContract, type StoreBackend } from '../contracts/key-value-store.contract.ts';
import { hasRedisServer, TestRedis } from './redis-server.ts';

describe.runIf(hasRedisServer)('on a real server', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await TestRedis.start();
  });
  afterAll(() => server.stop());

  const flush = async (): Promise<void> => {
    const redis = new Redis(server.url);
    await redis.flushall();
    redis.disconnect();
  };
  const open = (): Promise<RedisStore> => RedisStore.open({ url: server.url });
  const redis: StoreBackend = {
    name: 'redis',
    isDurable: true,
    isShared: true,
    prepare: async () => {
      await flush();
      return { open, clean: async () => undefined };
    },
  };
  runKeyValueStoreContract(redis);
  runDomainStoreContracts(redis);

  describe('redis store', () => {
    test('owns its data folder, whatever database another one uses', async () => {
      await flush();
      const dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-redis-'));
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
      const first = await RedisStore.open({ url: `${server.url}/1`, dataDir });
      const other = () => RedisStore.open({ url: `${server.url}/2`, dataDir });
      await expect(other()).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
      await expect(LmdbStore.open({ dataDir })).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
      await first.close();
      await (await other()).close();
      const nowhere = RedisStore.open({ url: 'redis://127.0.0.1:1', dataDir });
      await expect(nowhere).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
      await (await LmdbStore.open({ dataDir })).close();
    });

    test('goes on after a broken connection', async () => {
      await flush();
      const store = await open();
      const admin = new Redis(server.url);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const write = [{ table: 'agents' as const, key: 'a', value: Uint8Array.of(1) }];
      await expect.poll(() => store.commit(write).then(String, () => 'refused'), { timeout: 5_000 }).toBe('undefined');
      expect(await store.get('agents', 'a')).toEqual(Buffer.of(1));
      admin.disconnect();
      await store.close();
    });

    test('keeps every key under one hash tag, of the prefix given', async () => {
      await flush();
      const store = await RedisStore.open({ url: server.url, prefix: 'other' });
      await store.commit([{ table: 'agents', key: 'a', value: Uint8Array.of(1) }]);
      const admin = new Redis(server.url);
      expect((await admin.keys('*')).every((key) => key.startsWith('{other}:'))).toBe(true);
      admin.disconnect();
      await store.close();
    });
  });

  test('refuses commits at once while the server is gone, and for good once it came back empty', async () => {
    const own = await TestRedis.start();
    onTestFinished(() => own.stop());
    const store = await RedisStore.open({ url: own.url });
    const write = [{ table: 'agents' as const, key: 'a', value: Uint8Array.of(1) }];
    await store.commit(write);
    await own.kill();
    for (let i = 0; i < 100; i++) {
      await expect(store.commit(write)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    }
    await expect.poll(() => store.problem).toBe(`Redis at ${own.url} is away: not connected; trying again`);
    await own.run();
    // The new server does not hold what this process wrote, so nothing may be added to it.
    await expect
      .poll(() => store.commit(write).then(String, (error) => error.message), { timeout: 10_000 })
      .toContain('other data');
    await store.close();
  });

  test('refuses commits of a full server with its reason, stores nothing of them, and goes on once there is room', async () => {
    const own = await TestRedis.start('--maxmemory', '20mb', '--maxmemory-policy', 'noeviction');
    onTestFinished(() => own.stop());
    const store = await RedisStore.open({ url: own.url });
    const put = (key: string) => store.commit([{ table: 'vectors', key, value: new Uint8Array(1_000_000) }]);
    const kept: string[] = [];
    let refusal: unknown;
    for (let i = 0; refusal === undefined; i++) {
      await put(`v${i}`).then(
        () => kept.push(`v${i}`),
        (error: unknown) => {
          refusal = error;
        },
      );
    }
    expect(refusal).toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE', message: expect.stringContaining('OOM') });
    expect(store.problem).toContain('OOM');
    expect((await store.entries('vectors')).map(([key]) => key).sort()).toEqual(kept.sort());
    await store
      .commit(kept.slice(0, 9).map((key) => ({ table: 'vectors' as const, key, value: null })))
      .catch(() => undefined);
    const admin = new Redis(own.url);
    await admin.config('SET', 'maxmemory', '0');
    admin.disconnect();
    await put('later');
    expect(store.problem).toBeNull();
    await store.close();
  });

  test('is well again by itself after a server that stood still, with nothing committed since', async () => {
    const own = await TestRedis.start();
    onTestFinished(() => own.stop());
    const store = await RedisStore.open({ url: own.url });
    own.pause();
    const late = store.commit([{ table: 'agents', key: 'late', value: Uint8Array.of(1) }]);
    await expect(late).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    expect(store.problem).not.toBeNull();
    own.resume();
    await expect.poll(() => store.problem, { timeout: 9_000 }).toBeNull();
    await store.close();
  });

  test('does a commit that it could not answer in its time or not at all, and says which may be', async () => {
    const servers = await Promise.all([TestRedis.start(), TestRedis.start()]);
    onTestFinished(() => Promise.all(servers.map((server) => server.stop())).then(() => undefined));
    const write = (key: string) => [{ table: 'agents' as const, key, value: Uint8Array.of(1) }];
    const outcomes = servers.map(async (own, i) => {
      await (await RedisStore.open({ url: own.url })).close();
      // Opened on what is there it has committed nothing yet.
      const store = await RedisStore.open({ url: own.url });
      onTestFinished(() => store.close());
      const admin = new Redis(own.url);
      onTestFinished(() => admin.disconnect());
      own.pause();
      const sentAt = performance.now();
      await expect(store.commit(write('late'))).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/did not answer: the change may have been made, or still be within \d s$/),
      });
      await expect(store.commit(write('unsent'))).rejects.toMatchObject({
        message: `Redis at ${own.url} is away: not connected; trying again`,
      });
      if (i === 1) await expect.poll(() => performance.now() - sentAt, { timeout: 6_000 }).toBeGreaterThan(4_100);
      own.resume();
      await expect.poll(() => store.problem, { timeout: 9_000 }).toBeNull();
      return admin.hkeys(redisKeys().table('agents'));
    });
    expect(await Promise.all(outcomes)).toEqual([['late'], []]);
  });

  test('refuses a wrong password without repeating it, and takes the right one', async () => {
    const own = await TestRedis.start('--requirepass', 'right-one');
    onTestFinished(() => own.stop());
    const at = (login: string): string => `redis://${login}127.0.0.1:${own.port}`;
    for (const login of ['', ':wrong-one@']) {
      const opening = RedisStore.open({ url: at(login) });
      await expect(opening).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/^(?!.*wrong-one).*(?:NOAUTH|WRONGPASS)/s),
      });
    }
    await (await RedisStore.open({ url: at(':right-one@') })).close();
  });
});

test.each(['not a url', 'http://127.0.0.1:6379', 'redis://', 'redis://127.0.0.1:1'])(
  'refuses REDIS_URL %j',
  async (url) => {
    await expect(RedisStore.open({ url })).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('REDIS_URL'),
    });
  },
);
