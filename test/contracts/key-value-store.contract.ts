import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KeyValueStore } from '../../src/storage/key-value-store.ts';

/** A kind of store under test. `prepare` makes a fresh, empty place; `open` may be called again after a close. */
export interface StoreBackend {
  readonly name: string;
  /** False for a store that forgets when it is closed. */
  readonly isDurable: boolean;
  /** True for a store that several may have open at once. */
  readonly isShared?: boolean;
  prepare(): Promise<StorePlace>;
}

export interface StorePlace {
  open(): Promise<KeyValueStore>;
  clean(): Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : new TextDecoder().decode(value);

export function runKeyValueStoreContract(backend: StoreBackend): void {
  describe(`key-value store: ${backend.name}`, () => {
    let place: StorePlace;
    let store: KeyValueStore;
    beforeEach(async () => {
      place = await backend.prepare();
      store = await place.open();
    });
    afterEach(async () => {
      await store.close();
      await place.clean();
    });

    test('answers what was committed, in every read', async () => {
      await store.commit([
        { table: 'agents', key: 'b', value: bytes('two') },
        { table: 'agents', key: 'a', value: bytes('one') },
        { table: 'dictionary', key: 'a', value: bytes('another table') },
      ]);
      expect(textOf(await store.get('agents', 'a'))).toBe('one');
      expect((await store.getMany('agents', ['b', 'missing', 'a'])).map(textOf)).toEqual(['two', undefined, 'one']);
      expect((await store.entries('agents')).map(([key, value]) => [key, textOf(value)])).toEqual([
        ['a', 'one'],
        ['b', 'two'],
      ]);
      expect(await store.get('rules', 'a')).toBeUndefined();
      expect(await store.entries('vectors')).toEqual([]);
    });

    test('hands out every key once, in slices, while rows come and go', async () => {
      const keys = Array.from({ length: 2_300 }, (_, i) => `k${String(i).padStart(5, '0')}`);
      await store.commit(keys.map((key) => ({ table: 'vectors', key, value: bytes(key) })));
      const seen: string[] = [];
      let slices = 0;
      for await (const slice of store.keys('vectors')) {
        seen.push(...slice);
        slices++;
        await store.commit(slice.map((key) => ({ table: 'vectors', key, value: null })));
      }
      expect(seen.sort()).toEqual(keys);
      expect(slices).toBeGreaterThan(1);
      expect(await store.entries('vectors')).toEqual([]);
    });

    test('replaces and removes, and takes the removal of what is not there', async () => {
      await store.commit([{ table: 'agents', key: 'a', value: bytes('old') }]);
      await store.commit([
        { table: 'agents', key: 'a', value: bytes('new') },
        { table: 'agents', key: 'never', value: null },
      ]);
      expect(textOf(await store.get('agents', 'a'))).toBe('new');
      await store.commit([{ table: 'agents', key: 'a', value: null }]);
      expect(await store.get('agents', 'a')).toBeUndefined();
    });

    test('applies the writes of one commit, and commits in flight, in the order made', async () => {
      await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          store.commit([
            { table: 'agents', key: 'same', value: null },
            { table: 'agents', key: 'same', value: bytes(String(i)) },
          ]),
        ),
      );
      expect(textOf(await store.get('agents', 'same'))).toBe('199');
    });

    test('keeps every byte, empty values and values over a megabyte', async () => {
      const every = Uint8Array.from({ length: 256 }, (_, i) => i);
      const large = new Uint8Array(3_000_000).fill(7);
      await store.commit([
        { table: 'vectors', key: 'every', value: every },
        { table: 'vectors', key: 'large', value: large },
        { table: 'vectors', key: 'empty', value: new Uint8Array(0) },
      ]);
      expect([...((await store.get('vectors', 'every')) ?? [])]).toEqual([...every]);
      expect(Buffer.compare((await store.get('vectors', 'large')) ?? new Uint8Array(0), large)).toBe(0);
      expect((await store.get('vectors', 'empty'))?.byteLength).toBe(0);
    });

    test('grows by itself past any first size', async () => {
      const row = new Uint8Array(8_192).fill(1);
      for (let round = 0; round < 4; round++) {
        await store.commit(
          Array.from({ length: 256 }, (_, i) => ({ table: 'vectors' as const, key: `${round}-${i}`, value: row })),
        );
      }
      expect(await store.entries('vectors')).toHaveLength(1_024);
    });

    test('reads ranges of a ranged table in the order of its keys, both ways', async () => {
      const keys = Array.from({ length: 25 }, (_, i) => String(i * 7).padStart(4, '0'));
      for (const key of [...keys].reverse()) await store.commit([{ table: 'audit', key, value: bytes(`v${key}`) }]);
      const read = async (...range: Parameters<KeyValueStore['range']>) =>
        (await store.range(...range)).map(([key, value]) => {
          expect(textOf(value)).toBe(`v${key}`);
          return key;
        });
      expect(await read('audit', { limit: 100 })).toEqual(keys);
      expect(await read('audit', { limit: 3 })).toEqual(keys.slice(0, 3));
      expect(await read('audit', { limit: 100, before: '0014' })).toEqual(['0000', '0007']);
      expect(await read('audit', { limit: 3, isReverse: true })).toEqual(keys.slice(-3).reverse());
      expect(await read('audit', { limit: 2, before: '0021', isReverse: true })).toEqual(['0014', '0007']);
      expect(await read('audit', { limit: 2, before: '0020', isReverse: true })).toEqual(['0014', '0007']);
      await store.commit([{ table: 'audit', key: '0014', value: null }]);
      expect(await read('audit', { limit: 2, before: '0021', isReverse: true })).toEqual(['0007', '0000']);
      expect(await read('audit', { limit: 9, before: '0000', isReverse: true })).toEqual([]);
    });

    test('stores nothing of a commit with a key that cannot be kept', async () => {
      for (const key of ['', 'nul\0inside', 'x'.repeat(1_025)]) {
        const commit = store.commit([
          { table: 'agents', key: 'good', value: bytes('kept?') },
          { table: 'agents', key, value: bytes('bad') },
        ]);
        await expect(commit).rejects.toMatchObject({ code: 'AR_ERR_INTERNAL' });
      }
      expect(await store.entries('agents')).toEqual([]);
    });

    test('stores nothing of a commit whose new key is there already', async (context) => {
      if (backend.isShared !== true) context.skip();
      const put = { table: 'audit' as const, key: '1', isNew: true as const };
      await store.commit([{ ...put, value: bytes('first') }]);
      const again = store.commit([
        { table: 'agents', key: 'a', value: bytes('beside') },
        { ...put, value: bytes('second') },
      ]);
      await expect(again).rejects.toMatchObject({ code: 'AR_ERR_STORE_CONFLICT' });
      expect(textOf(await store.get('audit', '1'))).toBe('first');
      expect(await store.get('agents', 'a')).toBeUndefined();
    });

    test('hands out bytes that the reader may change', async () => {
      await store.commit([{ table: 'agents', key: 'a', value: bytes('abc') }]);
      (await store.get('agents', 'a'))?.fill(0);
      expect(textOf(await store.get('agents', 'a'))).toBe('abc');
    });

    test('takes keys of any script', async () => {
      await store.commit([{ table: 'agents', key: '天气/杭州', value: bytes('晴') }]);
      expect((await store.entries('agents')).map(([key]) => key)).toEqual(['天气/杭州']);
    });

    test('has no problem until it is closed', async () => {
      expect(store.problem).toBeNull();
      await store.commit([{ table: 'agents', key: 'a', value: bytes('one') }]);
      expect(store.problem).toBeNull();
      await store.close();
      expect(store.problem).toBe('the store is closed');
    });

    test('refuses every call once closed, and closes twice without harm', async () => {
      await store.close();
      await store.close();
      const refused = { code: 'AR_ERR_STORE_UNAVAILABLE' };
      await expect(store.get('agents', 'a')).rejects.toMatchObject(refused);
      await expect(store.getMany('agents', ['a'])).rejects.toMatchObject(refused);
      await expect(store.entries('agents')).rejects.toMatchObject(refused);
      await expect(store.commit([{ table: 'agents', key: 'a', value: null }])).rejects.toMatchObject(refused);
    });

    test.runIf(backend.isDurable)('finds everything again after a close, also what was in flight', async () => {
      const commits = Array.from({ length: 50 }, (_, i) =>
        store.commit([{ table: 'agents', key: `k${i}`, value: bytes(String(i)) }]),
      );
      await store.close();
      await Promise.all(commits);
      store = await place.open();
      expect(await store.entries('agents')).toHaveLength(50);
    });

    test.runIf(backend.isDurable && backend.isShared !== true)('has one owner at a time', async () => {
      await expect(place.open()).rejects.toMatchObject({ code: 'AR_ERR_STORE_IN_USE' });
      await store.commit([{ table: 'agents', key: 'a', value: bytes('still writable') }]);
      await store.close();
      store = await place.open();
      expect(textOf(await store.get('agents', 'a'))).toBe('still writable');
    });

    test.runIf(backend.isDurable)('refuses a store written by another version, and says how to go on', async () => {
      await store.commit([{ table: 'meta', key: 'schema', value: bytes('{"version":99}') }]);
      await store.close();
      await expect(place.open()).rejects.toMatchObject({
        code: 'AR_ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/version 99.*reads version 1.*empty place/s),
      });
    });
  });
}
