/** The store over a Redis Cluster: three real masters, which refuse scripts and transactions across slots. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readRedisAddress } from '../../src/redis/index.ts';
import { RedisStore } from '../../src/storage/index.ts';
import { runDomainStoreContracts } from '../contracts/domain-stores.contract.ts';
import { runKeyValueStoreContract, type StoreBackend } from '../contracts/key-value-store.contract.ts';
import { TestRedisCluster } from './redis-cluster-server.ts';
import { hasRedisServer } from './redis-server.ts';

describe.runIf(hasRedisServer)('on a Redis Cluster', () => {
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    cluster = await TestRedisCluster.start();
  }, 30_000);
  afterAll(() => cluster.stop());

  const backend: StoreBackend = {
    name: 'redis cluster',
    isDurable: true,
    isShared: true,
    prepare: async () => {
      await cluster.home.flushall();
      return { open: () => RedisStore.open({ url: cluster.url }), clean: async () => undefined };
    },
  };
  runKeyValueStoreContract(backend);
  runDomainStoreContracts(backend);

  const put = (key: string) => [{ table: 'agents' as const, key, value: Uint8Array.of(1) }];

  async function opened(): Promise<RedisStore> {
    const store = await RedisStore.open({ url: cluster.url });
    onTestFinished(() => store.close());
    return store;
  }

  async function following(): Promise<{ store: RedisStore; seen: string[] }> {
    const store = await opened();
    const seen: string[] = [];
    store.log.follow({
      onEntry: ({ writes }) => {
        for (const { table, key } of writes) if (table === 'agents') seen.push(key);
      },
      onBeats: () => undefined,
    });
    return { store, seen };
  }

  const outcome = (store: RedisStore, key: string): Promise<string> =>
    store.commit(put(key)).then(
      () => 'stored',
      (error) => error.code,
    );

  test('says what to do where one node of it is taken for a server', async () => {
    await expect(RedisStore.open({ url: cluster.elsewhere.url })).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/MOVED.*redis\+cluster:\/\//s),
    });
  });

  test('goes on at the new master after a failover, refusing meanwhile, each change once', async () => {
    await cluster.home.flushall();
    const [a, b] = [await following(), await following()];
    await a.store.commit(put('before'));
    await expect.poll(() => b.seen).toEqual(['before']);
    await cluster.failOver();
    await expect.poll(() => outcome(a.store, 'after'), { timeout: 8_000 }).toBe('stored');
    await expect.poll(() => outcome(b.store, 'other'), { timeout: 8_000 }).toBe('stored');
    await expect.poll(() => [...new Set(b.seen)], { timeout: 8_000 }).toEqual(['before', 'after', 'other']);
    await expect.poll(() => a.seen, { timeout: 8_000 }).toEqual(b.seen);
    expect((await a.store.entries('agents')).map(([key]) => key)).toEqual(['after', 'before', 'other']);
    expect([a.store.problem, b.store.problem]).toEqual([null, null]);
    expect(await cluster.home.exists('{agent-reach}:table:agents')).toBe(1);
  }, 30_000);

  test('goes on at the replica when the master was killed', async () => {
    await cluster.home.flushall();
    const { store, seen } = await following();
    await store.commit(put('before'));
    // What is acknowledged is with the replica by then.
    await cluster.home.wait(1, 1_000);
    await cluster.killHome();
    await expect.poll(() => outcome(store, 'after'), { timeout: 10_000 }).toBe('stored');
    await expect.poll(() => [...new Set(seen)]).toEqual(['before', 'after']);
    expect((await store.entries('agents')).map(([key]) => key)).toEqual(['after', 'before']);
  }, 30_000);
});

test('reads the address of a cluster', () => {
  expect(readRedisAddress('redis+cluster://u:p%40ss@a:1,[::1]:2,c')).toEqual({
    place: 'redis+cluster://a:1,[::1]:2,c',
    url: 'redis+cluster://u:p%40ss@a:1,[::1]:2,c',
    cluster: [
      { host: 'a', port: 1 },
      { host: '::1', port: 2 },
      { host: 'c', port: 6379 },
    ],
    username: 'u',
    password: 'p@ss',
    isTls: false,
  });
  expect(readRedisAddress('rediss-cluster://:x@a')).toMatchObject({
    isTls: true,
    password: 'x',
    cluster: [{ host: 'a' }],
  });
});

test.each([
  'redis+cluster://',
  'redis+cluster://:a%zz@a:1',
  'redis+cluster://a,',
  'redis+cluster://a:99999',
  'redis+cluster://a/1',
  'redis+cluster://a?x=1',
  'redis+sentinel://a',
])('refuses REDIS_URL %j', async (url) => {
  await expect(RedisStore.open({ url })).rejects.toMatchObject({
    code: 'AR_ERR_STORE_UNAVAILABLE',
    message: expect.stringContaining('redis+cluster://'),
  });
});
