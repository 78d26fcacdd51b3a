/** What instances share of the index in one Redis: the first vector counts, removals are told, one change wins. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentHash, ManualClock, systemClock } from '../../src/core/index.ts';
import { WorkClaims } from '../../src/redis/index.ts';
import { SharedVersions } from '../../src/routing/index.ts';
import {
  KeyValueManifestStore,
  KeyValueVectorStore,
  type LogEntry,
  manifestKeyOf,
  RedisStore,
  vectorsRemovedIn,
} from '../../src/storage/index.ts';
import { sharedVersion } from '../contracts/index-manifest.contract.ts';
import { hasRedisServer, TestRedis } from './redis-server.ts';

const MODEL = 'model-a';

describe.runIf(hasRedisServer)('the index in one Redis', () => {
  let server: TestRedis;
  const open: RedisStore[] = [];
  beforeEach(async () => {
    server = await TestRedis.start();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
    await server.stop();
  });

  /** `isHearing` false: what others do does not reach it yet. */
  async function instance() {
    const store = await RedisStore.open({ url: server.url });
    open.push(store);
    const entries: LogEntry[] = [];
    const state = { isHearing: true };
    const manifests = new KeyValueManifestStore(store, MODEL);
    const shared = new SharedVersions({
      clock: systemClock,
      fingerprint: MODEL,
      store: manifests,
      claims: new WorkClaims(store.link),
      keep: 3,
      lastNumber: async () => 0,
      assertOpen: () => undefined,
    });
    shared.open();
    store.log.follow({
      async onEntry(entry) {
        while (!state.isHearing) await new Promise((resolve) => setTimeout(resolve, 10));
        entries.push(entry);
        if (!entry.isOwn && entry.writes.some(({ key }) => key === manifestKeyOf(MODEL))) await shared.load();
      },
      onBeats: () => undefined,
    });
    return { store, entries, state, manifests, shared, vectors: new KeyValueVectorStore(store, { isShared: true }) };
  }

  /** Builds nothing, and publishes it. `before`: what happens between the claim and that. */
  function published(
    { shared }: Awaited<ReturnType<typeof instance>>,
    before: (fence: number) => Promise<unknown> = async () => undefined,
  ): Promise<string> {
    const signal = new AbortController().signal;
    const built = shared.buildOnce({ isWanted: () => true, signal }, async ({ id, fence, prepare }) => {
      const publish = await prepare({ absent: [], catalogue: Buffer.from('x'), heads: undefined });
      await before(fence);
      const { info, rows } = sharedVersion(id);
      await publish({ info, rows });
      shared.noteServed(fence);
      return info;
    });
    return built.then(({ id }) => id);
  }

  test('takes the first vector of a text, and gives it to who came second', async () => {
    const [a, b] = [await instance(), await instance()];
    const hash = contentHash('a text');
    const both = await Promise.all(
      [a, b].map(({ vectors }, i) => vectors.putMany(MODEL, new Map([[hash, Float32Array.of(i, 1)]]))),
    );
    const stored = (await a.vectors.getMany(MODEL, [hash])).get(hash);
    expect(both.map((kept) => kept.get(hash))).toEqual([stored, stored]);
  });

  test('tells the others which vectors were removed', async () => {
    const [a, b] = [await instance(), await instance()];
    const hashes = ['x', 'y'].map((text) => contentHash(text));
    await a.vectors.putMany(MODEL, new Map(hashes.map((hash) => [hash, Float32Array.of(1)])));
    await a.vectors.putMany('model-b', new Map(hashes.map((hash) => [hash, Float32Array.of(1)])));
    const [kept, gone] = hashes;
    expect(await a.vectors.prune((model, hash) => model === MODEL && hash === kept)).toBe(3);
    await expect
      .poll(() => b.entries.flatMap(({ writes }) => vectorsRemovedIn(writes, MODEL) ?? []))
      .toEqual([{ hashes: [gone] }]);
    expect(b.entries.flatMap(({ writes }) => vectorsRemovedIn(writes, 'model-b')?.hashes?.length ?? [])).toEqual([2]);
    // Whoever lost its place in the log knows only that there was something.
    const write = { table: 'meta' as const, key: 'vectors_removed', value: undefined };
    expect(vectorsRemovedIn([write], MODEL)).toEqual({ hashes: undefined });
    const later = { ...write, note: '{"form":2}' };
    expect(vectorsRemovedIn([later, write], MODEL)).toEqual({ hashes: undefined });
    expect(vectorsRemovedIn([{ ...write, key: 'another' }], MODEL)).toBeUndefined();
  });

  test('refuses a builder whose claim another one has by force, whenever it comes', async () => {
    const [a, b] = [await instance(), await instance()];
    expect(await published(a)).toBe('v000001');
    await expect.poll(() => b.shared.current?.info.id).toBe('v000001');
    b.shared.noteServed(b.shared.fence);
    const hold = { version: 'v000001', heldAt: 5, by: 'ops', liveHashes: {} };
    const late = published(a, () => b.shared.holdStore.save(hold));
    await expect(late).rejects.toMatchObject({ code: 'AR_ERR_INDEX_OVERTAKEN' });
    await expect.poll(() => a.shared.hold).toEqual(hold);
    expect((await a.manifests.load()).manifest).toMatchObject({ fence: 3, current: 'v000001' });
    expect(await published(b)).toBe('v000004');
    await expect.poll(() => a.shared.hold).toBeNull();
  });

  test('refuses a builder that has heard nothing of a newer version, although its claim looks well', async () => {
    const [a, b] = [await instance(), await instance()];
    a.state.isHearing = false;
    const late = published(a, async (fence) => {
      // As after a stop of the whole process: the claim lapsed, another one built, and all of it is unheard of.
      const { redis, keys } = a.store.link;
      const holder = await redis.get(keys.work(`index:${MODEL}`));
      await redis.del(keys.work(`index:${MODEL}`));
      expect(await published(b)).toBe(`v00000${fence + 1}`);
      await redis.set(keys.work(`index:${MODEL}`), holder ?? '', 'PX', 60_000);
      setTimeout(() => {
        a.state.isHearing = true;
      }, 50);
    });
    await expect(late).rejects.toMatchObject({ code: 'AR_ERR_INDEX_OVERTAKEN' });
    expect((await b.manifests.load()).manifest).toMatchObject({ fence: 2, versions: [{ info: { id: 'v000002' } }] });
  });

  test('goes back to no version that is not kept', async () => {
    const a = await instance();
    await published(a);
    const save = a.shared.holdStore.save({ version: 'v000009', heldAt: 5, by: 'ops', liveHashes: {} });
    await expect(save).rejects.toMatchObject({ code: 'AR_ERR_NOT_FOUND' });
    expect(a.shared.hold).toBeNull();
  });

  test('keeps the last three versions and their parts', async () => {
    const a = await instance();
    for (let i = 0; i < 5; i++) await published(a);
    const ids = ['v000005', 'v000004', 'v000003'];
    expect(a.shared.versions.map(({ info }) => info.id)).toEqual(ids);
    const found = async () => (await a.store.entries('index_versions')).map(([key]) => key.split('/')[1]);
    await expect.poll(found).toEqual([...ids].reverse());
  });

  test('refuses to build while Redis is away, and to wait for it', async () => {
    const a = await instance();
    await server.kill();
    await expect(published(a)).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
  });

  test('lets who waits for another builder go on when it stops', async () => {
    const [a, b] = [await instance(), await instance()];
    const claim = await new WorkClaims({ ...b.store.link, clock: new ManualClock() }).take(`index:${MODEL}`);
    const ending = new AbortController();
    const waiting = a.shared.buildOnce({ isWanted: () => true, signal: ending.signal }, async () => {
      throw new Error('it builds');
    });
    ending.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'AR_ERR_STOPPING' });
    await claim?.release();
  });
});
