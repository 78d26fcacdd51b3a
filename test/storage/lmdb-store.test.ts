import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LmdbStore } from '../../src/storage/index.ts';
import { runDomainStoreContracts } from '../contracts/domain-stores.contract.ts';
import { runKeyValueStoreContract, type StoreBackend } from '../contracts/key-value-store.contract.ts';

const lmdb: StoreBackend = {
  name: 'lmdb',
  isDurable: true,
  prepare: async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'agent-reach-test-'));
    return {
      open: () => LmdbStore.open({ dataDir }),
      clean: async () => rmSync(dataDir, { recursive: true, force: true }),
    };
  },
};

runKeyValueStoreContract(lmdb);
runDomainStoreContracts(lmdb);

describe('lmdb store on disk', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'agent-reach-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('makes a missing data directory, for its owner only', async () => {
    const dataDir = join(folder, 'deep', 'data.d');
    const store = await LmdbStore.open({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    await store.close();
    expect(readdirSync(dataDir)).toEqual(['store']);
  });

  test('refuses a file where the folder should be, and a place where none can be made', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const dataDir of [file, join(file, 'below'), '/proc/agent-reach']) {
      await expect(LmdbStore.open({ dataDir })).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('set DATA_DIR'),
      });
    }
  });

  test.each([
    ['of another program', (file: string) => writeFileSync(file, Buffer.alloc(8_192, 'no database '))],
    ['cut within its first page', (file: string) => truncateSync(file, 100)],
    ['cut to one page', (file: string) => truncateSync(file, 4_096)],
    ['cut to its first pages', (file: string) => truncateSync(file, 8_192)],
    ['cut to nothing', (file: string) => truncateSync(file, 0)],
    ['that is gone', (file: string) => rmSync(file)],
  ])('refuses a data file %s, and frees the directory again', async (_, damage) => {
    const store = await LmdbStore.open({ dataDir: folder });
    await store.commit([{ table: 'vectors', key: 'large', value: new Uint8Array(100_000) }]);
    await store.close();
    damage(join(folder, 'store', 'data.mdb'));
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(LmdbStore.open({ dataDir: folder })).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('move the folder away'),
      });
    }
  });

  test('refuses a data file of bytes by chance after its first pages, and frees the directory again', async () => {
    const store = await LmdbStore.open({ dataDir: folder });
    await store.commit([{ table: 'vectors', key: 'large', value: new Uint8Array(100_000) }]);
    await store.close();
    const path = join(folder, 'store', 'data.mdb');
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 8_192);
    writeFileSync(path, bytes);
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(LmdbStore.open({ dataDir: folder })).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('move'),
      });
    }
  });

  test('commits nothing while less than 16 MiB would stay free, says why, and goes on once there is room', async () => {
    let free = 16 * 1_048_576 + 1_000;
    const store = await LmdbStore.open({ dataDir: folder, freeBytes: () => free });
    const put = (key: string, bytes: number) => store.commit([{ table: 'agents', key, value: new Uint8Array(bytes) }]);
    const full = { code: 'AR_ERR_STORE_UNAVAILABLE', message: expect.stringContaining('make room') };
    await put('small', 100);
    await expect(put('large', 600)).rejects.toMatchObject(full);
    expect(store.problem).toContain('only 16.0 MiB of disk are free');
    // Those in flight count together.
    const outcomes = await Promise.allSettled([put('a', 200), put('b', 200), put('c', 200)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    free = 0;
    await expect(put('more', 1)).rejects.toMatchObject(full);
    expect((await store.entries('agents')).map(([key]) => key)).toEqual(['a', 'b', 'small']);
    free = 1e9;
    await put('large', 600);
    expect(store.problem).toBeNull();
    await store.close();
  });

  test('starts in a folder whose first start was cut short before it held data', async () => {
    mkdirSync(join(folder, 'store'));
    writeFileSync(join(folder, 'store', 'data.mdb'), '');
    await (await LmdbStore.open({ dataDir: folder })).close();
  });

  test('refuses a table that a damaged page cut short, and says so', async () => {
    const store = await LmdbStore.open({ dataDir: folder });
    await store.commit(
      Array.from({ length: 200 }, (_, at) => ({ table: 'agents' as const, key: `${at}`, value: new Uint8Array(300) })),
    );
    await store.close();
    const path = join(folder, 'store', 'data.mdb');
    const bytes = readFileSync(path);
    // A page without rows where a leaf was: its header says that nothing lies between the two bounds.
    const leaves = Array.from({ length: bytes.length / 4_096 }, (_, page) => page * 4_096).filter(
      (at) => at >= 8_192 && bytes.indexOf(Buffer.from('150'), at) < at + 4_096 && bytes.indexOf('150', at) >= at,
    );
    expect(leaves.length).toBeGreaterThan(0);
    for (const at of leaves) bytes.writeUInt16LE(24, at + 20);
    writeFileSync(path, bytes);
    const damaged = await LmdbStore.open({ dataDir: folder });
    await expect(damaged.entries('agents')).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('data.mdb is damaged'),
    });
    await damaged.close();
  });

  test('owns a directory whose path is too long for a socket', async () => {
    const dataDir = join(folder, 'x'.repeat(120));
    const store = await LmdbStore.open({ dataDir });
    await expect(LmdbStore.open({ dataDir })).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
    await store.close();
    await (await LmdbStore.open({ dataDir })).close();
  });

  test('lets at most one of many win that open at once, and one later', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => LmdbStore.open({ dataDir: folder })));
    const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(winners.length).toBeLessThanOrEqual(1);
    await Promise.all(winners.map((store) => store.close()));
    await (await LmdbStore.open({ dataDir: folder })).close();
  });
});
