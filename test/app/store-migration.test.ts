import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { migrateStore } from '../../src/app/index.ts';
import { KeyValueAgentStore, type KeyValueStore, LmdbStore, RedisStore, TABLES } from '../../src/storage/index.ts';
import { hasRedisServer, TestRedis } from '../storage/redis-server.ts';
import { sampleRecord } from '../storage/sample-record.ts';

describe.runIf(hasRedisServer)('store migration', () => {
  let server: TestRedis;
  let folder: string;
  beforeEach(async () => {
    server = await TestRedis.start();
    folder = mkdtempSync(join(tmpdir(), 'agent-reach-migration-'));
  });
  afterEach(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const fill = async (store: KeyValueStore): Promise<void> => {
    const agents = Array.from({ length: 600 }, (_, i) => sampleRecord(`agent-${i}`));
    await new KeyValueAgentStore(store).commit({ putAgents: agents });
    for (const table of TABLES.filter((name) => name !== 'agents' && name !== 'meta')) {
      await store.commit(
        Array.from({ length: 3 }, (_, i) => ({ table, key: `${i}`, value: Uint8Array.of(i, 0, 255) })),
      );
    }
    await store.commit([{ table: 'meta', key: 'index_hold', value: Uint8Array.of(1) }]);
    await store.close();
  };
  const rowsOf = async (store: KeyValueStore): Promise<unknown> => {
    const rows = [];
    for (const table of TABLES)
      for (const [key, value] of await store.entries(table)) rows.push([table, key, [...value]]);
    await store.close();
    return rows;
  };

  test('brings every row to Redis and back, but for index versions, which are made anew', async () => {
    const [first, second] = [`lmdb:${join(folder, 'a')}`, `lmdb:${join(folder, 'a2')}`];
    await fill(await LmdbStore.open({ dataDir: join(folder, 'a') }));
    const there = await migrateStore({ from: first, to: server.url, force: false });
    expect(there.rows).toMatchObject({ agents: 600, dictionary: 3, vectors: 3, audit: 3, index_versions: 0, meta: 0 });
    const redis = await RedisStore.open({ url: server.url });
    expect((await redis.range('audit', { limit: 9 })).map(([key]) => key)).toEqual(['0', '1', '2']);
    expect((await redis.entries('meta')).map(([key]) => key)).toEqual(['schema']);
    await redis.close();
    const back = await migrateStore({ from: server.url, to: second, force: false });
    expect(back.total).toBe(there.total);
    const again = await migrateStore({ from: server.url, to: first, force: true });
    expect(again.total).toBe(there.total);
    expect(await rowsOf(await LmdbStore.open({ dataDir: join(folder, 'a') }))).toHaveLength(there.total + 1);
  });

  test('takes the drift counts of a folder along, under the name that its instance has there', async () => {
    const [dir, fresh] = [join(folder, 'a'), join(folder, 'b')];
    const source = await LmdbStore.open({ dataDir: dir });
    await source.commit([{ table: 'meta', key: 'drift', value: Uint8Array.of(7) }]);
    await fill(source);
    await migrateStore({ from: `lmdb:${dir}`, to: server.url, force: false });
    const redis = await RedisStore.open({ url: server.url });
    const id = readFileSync(join(dir, 'id'), 'utf8').trim();
    expect([...((await redis.get('meta', `drift:${id}`)) ?? [])]).toEqual([7]);
    await redis.commit([
      { table: 'meta', key: `drift:${id}`, value: Uint8Array.of(8) },
      { table: 'meta', key: 'drift:0123456789abcdef', value: Uint8Array.of(9) },
    ]);
    await redis.close();
    for (const [to, value] of [
      [dir, [8]],
      [fresh, []],
    ] as const) {
      await migrateStore({ from: server.url, to: `lmdb:${to}`, force: true });
      const back = await LmdbStore.open({ dataDir: to });
      const keys = (await back.entries('meta')).map(([key]) => key);
      expect([keys.filter((key) => key.startsWith('drift:')), [...((await back.get('meta', 'drift')) ?? [])]]).toEqual([
        [],
        value,
      ]);
      await back.close();
    }
  });

  test('refuses a target that holds something, a source in use, and places that are none', async () => {
    const from = `lmdb:${join(folder, 'a')}`;
    const source = await LmdbStore.open({ dataDir: join(folder, 'a') });
    const migrate = (to: string, force = false) => migrateStore({ from, to, force });
    await expect(migrate(server.url)).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
    await fill(source);
    await migrate(server.url);
    await expect(migrate(server.url)).rejects.toMatchObject({
      code: 'AR_ERR_INVALID_REQUEST',
      message: expect.stringContaining('--force'),
    });
    expect((await migrate(server.url, true)).rows).toMatchObject({ agents: 600 });
    await expect(migrate('http://somewhere')).rejects.toMatchObject({ code: 'AR_ERR_INVALID_REQUEST' });
    const running = await RedisStore.open({ url: server.url });
    onTestFinished(() => running.close());
    await running.link.redis.set(running.link.keys.sweeper, 'an instance');
    await expect(migrate(server.url, true)).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
  });

  test('empties no target for a source that is empty, missing, or the target itself', async () => {
    await fill(await RedisStore.open({ url: server.url }));
    const before = await rowsOf(await RedisStore.open({ url: server.url }));
    const [empty, missing] = [join(folder, 'empty'), join(folder, 'missing')];
    await (await LmdbStore.open({ dataDir: empty })).close();
    const otherName = server.url.replace('127.0.0.1', 'localhost');
    for (const from of [`lmdb:${empty}`, `lmdb:${missing}`, server.url, otherName]) {
      const refused = migrateStore({ from, to: server.url, force: true });
      await expect(refused).rejects.toMatchObject({
        code: 'AR_ERR_INVALID_REQUEST',
        message: expect.stringContaining('--from'),
      });
    }
    expect(await rowsOf(await RedisStore.open({ url: server.url }))).toEqual(before);
    expect(existsSync(missing)).toBe(false);
  });
});
