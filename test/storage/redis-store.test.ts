import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LmdbStore, RedisStore } from '../../src/storage/index.ts';
import { runDomainStoreContracts } from '../contracts/domain-stores.contract.ts';
import { runKeyValueStoreContract, type StoreBackend } from '../contracts/key-value-store.contract.ts';
import { hasRedisServer, TestRedis } from './redis-server.ts';

const LEASE_MS = 600;

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
  const open = (): Promise<RedisStore> => RedisStore.open({ url: server.url, leaseMs: LEASE_MS });
  const redis: StoreBackend = {
    name: 'redis',
    isDurable: true,
    prepare: async () => {
      await flush();
      return { open, clean: async () => undefined };
    },
  };
  runKeyValueStoreContract(redis);
  runDomainStoreContracts(redis);

  describe('redis store', () => {
    test('takes over from an owner that was killed, once its lease lapsed', async () => {
      await flush();
      const admin = new Redis(server.url);
      await admin.set('{agent-reach}:owner', 'the token of a dead process', 'PX', 300);
      admin.disconnect();
      const store = await open();
      await store.commit([{ table: 'agents', key: 'a', value: Uint8Array.of(1) }]);
      await store.close();
    });

    test('owns its data folder too, whatever database another one uses', async () => {
      await flush();
      const dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-redis-'));
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
      const first = await RedisStore.open({ url: `${server.url}/1`, leaseMs: LEASE_MS, dataDir });
      const other = () => RedisStore.open({ url: `${server.url}/2`, leaseMs: LEASE_MS, dataDir });
      await expect(other()).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
      await expect(LmdbStore.open({ dataDir })).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
      await first.close();
      await (await other()).close();
      const nowhere = RedisStore.open({ url: 'redis://127.0.0.1:1', leaseMs: LEASE_MS, dataDir });
      await expect(nowhere).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
      await (await LmdbStore.open({ dataDir })).close();
    });

    test('refuses commits of an owner that another has replaced', async () => {
      await flush();
      const store = await open();
      const admin = new Redis(server.url);
      await admin.del('{agent-reach}:owner');
      const next = await open();
      await expect(store.commit([{ table: 'agents', key: 'a', value: Uint8Array.of(1) }])).rejects.toMatchObject({
        code: 'AR_ERR_STORE_IN_USE',
      });
      await store.close();
      expect(await admin.exists('{agent-reach}:owner')).toBe(1);
      expect(await next.get('agents', 'a')).toBeUndefined();
      await next.close();
      expect(await admin.exists('{agent-reach}:owner')).toBe(0);
      admin.disconnect();
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

    test('keeps every key under one hash tag', async () => {
      await flush();
      const store = await open();
      await store.commit([{ table: 'agents', key: 'a', value: Uint8Array.of(1) }]);
      const admin = new Redis(server.url);
      expect((await admin.keys('*')).every((key) => key.startsWith('{agent-reach}:'))).toBe(true);
      admin.disconnect();
      await store.close();
    });
  });

  test('refuses commits at once while the server is gone, and for good once it came back empty', async () => {
    const own = await TestRedis.start();
    onTestFinished(() => own.stop());
    const store = await RedisStore.open({ url: own.url, leaseMs: LEASE_MS });
    const write = [{ table: 'agents' as const, key: 'a', value: Uint8Array.of(1) }];
    await store.commit(write);
    await own.kill();
    for (let i = 0; i < 100; i++) {
      await expect(store.commit(write)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    }
    await expect.poll(() => store.problem).toBe('Redis is not connected; trying again');
    await own.run();
    // The new server knows no fence: its data is not what this process wrote, so nothing may be added to it.
    await expect
      .poll(() => store.commit(write).then(String, (error) => error.code), { timeout: 10_000 })
      .toBe('AR_ERR_STORE_IN_USE');
    expect(store.problem).toBe('Redis lost its data: restart this one to go on');
    await store.close();
  });

  test('refuses a wrong password without repeating it, and takes the right one', async () => {
    const own = await TestRedis.start('--requirepass', 'right-one');
    onTestFinished(() => own.stop());
    const at = (login: string): string => `redis://${login}127.0.0.1:${own.port}`;
    for (const login of ['', ':wrong-one@']) {
      const opening = RedisStore.open({ url: at(login), leaseMs: LEASE_MS });
      await expect(opening).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/^(?!.*wrong-one).*(?:NOAUTH|WRONGPASS)/s),
      });
    }
    await (await RedisStore.open({ url: at(':right-one@'), leaseMs: LEASE_MS })).close();
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
