import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type LogEntry, RedisStore } from '../../src/storage/index.ts';
import { hasRedisServer, TestRedis } from './redis-server.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (key: string, text: string) => ({ table: 'agents' as const, key, value: bytes(text) });

describe.runIf(hasRedisServer)('the log of several instances', () => {
  let server: TestRedis;
  let admin: Redis;
  const open: RedisStore[] = [];
  beforeAll(async () => {
    server = await TestRedis.start();
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });
  beforeEach(() => admin.flushall().then(() => undefined));
  afterEach(() => Promise.all(open.splice(0).map((store) => store.close())).then(() => undefined));

  async function instance(options: { readonly url?: string; readonly logEntries?: number } = {}) {
    const store = await RedisStore.open({ url: server.url, ...options });
    open.push(store);
    const seen: string[] = [];
    const entries: LogEntry[] = [];
    const state = new Map<string, string>();
    let held: Promise<void> | undefined;
    const hold = (until: Promise<void>): void => {
      held = until;
    };
    store.log.follow({
      async onEntry(entry) {
        await held;
        entries.push(entry);
        for (const { key, value } of entry.writes) {
          const text = value === null || value === undefined ? null : new TextDecoder().decode(value);
          seen.push(`${entry.position} ${key}=${text}`);
          if (text === null) state.delete(key);
          else state.set(key, text);
        }
      },
      onBeats: () => undefined,
    });
    return { store, seen, entries, state, hold };
  }

  test('hands every commit to every instance once, in one order, own ones marked', async () => {
    const [a, b, c] = [await instance(), await instance(), await instance()];
    await Promise.all(Array.from({ length: 30 }, (_, i) => [a, b, c][i % 3]?.store.commit([put(`k${i}`, `v${i}`)])));
    await expect.poll(() => [a, b, c].map(({ seen }) => seen.length)).toEqual([30, 30, 30]);
    expect(b.seen).toEqual(a.seen);
    expect(c.seen).toEqual(a.seen);
    expect(a.entries.map(({ position }) => position)).toEqual(Array.from({ length: 30 }, (_, i) => i + 2));
    for (const one of [a, b, c]) expect(one.entries.filter(({ isOwn }) => isOwn)).toHaveLength(10);
  });

  test('lets what follows on a commit happen before the next entry is handed over', async () => {
    const [a, b] = [await instance(), await instance()];
    const order: string[] = [];
    const follow = async (text: string): Promise<void> => {
      await a.store.commit([put(text, text)]);
      await Promise.resolve();
      order.push(`${text} at ${a.store.log.position}`);
    };
    await Promise.all([follow('one'), b.store.commit([put('other', '')]), follow('two')]);
    for (const line of order) {
      const [text, position] = line.split(' at ');
      expect(a.seen).toContain(`${position} ${text}=${text}`);
    }
  });

  test('refuses a commit decided on a row that another instance has changed, once this one has read the change', async () => {
    const [a, b] = [await instance(), await instance()];
    await a.store.commit([put('same', 'first')]);
    await expect.poll(() => b.state.get('same')).toBe('first');
    const outcomes = await Promise.allSettled([
      a.store.commit([put('same', 'by a')]),
      b.store.commit([put('same', 'by b')]),
    ]);
    const lost = outcomes.findIndex(({ status }) => status === 'rejected');
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes[lost]).toMatchObject({ reason: { code: 'AR_ERR_STORE_CONFLICT' } });
    const winner = lost === 0 ? 'by b' : 'by a';
    expect((lost === 0 ? a : b).state.get('same')).toBe(winner);
    await (lost === 0 ? a : b).store.commit([put('same', 'again')]);
    await expect.poll(() => [a.state.get('same'), b.state.get('same')]).toEqual(['again', 'again']);
  });

  test('refuses to bring a removed row back by a decision of before', async () => {
    const [a, b] = [await instance(), await instance()];
    await a.store.commit([put('same', 'first')]);
    await expect.poll(() => b.state.get('same')).toBe('first');
    const removed = a.store.commit([{ table: 'agents', key: 'same', value: null }]);
    const late = b.store.commit([put('same', 'late')]).then(String, (error) => error.code);
    await removed;
    if ((await late) === 'AR_ERR_STORE_CONFLICT') expect(b.state.has('same')).toBe(false);
    else expect(b.seen.at(-1)).toContain('null');
  });

  test('brings an instance up to date by a snapshot that was away for longer than the log is kept', async () => {
    const a = await instance({ logEntries: 10 });
    const b = await instance({ logEntries: 10 });
    await a.store.commit([put('gone', 'x'), put('kept', 'x')]);
    await expect.poll(() => b.state.size).toBe(2);
    // Streams are trimmed by whole nodes of a hundred entries.
    const rows = Array.from({ length: 300 }, (_, i) => put(`k${i}`, String(i)));
    let goOn = (): void => undefined;
    b.hold(
      new Promise((resolve) => {
        goOn = resolve;
      }),
    );
    await a.store.commit([{ table: 'agents', key: 'gone', value: null }]);
    await Promise.all(rows.map((row) => a.store.commit([row])));
    goOn();
    await expect.poll(() => b.state.size).toBe(301);
    expect([...b.state.keys()].sort()).toEqual([...a.state.keys()].sort());
    expect(b.entries.some(({ isAfterGap }) => isAfterGap)).toBe(true);
    expect(b.store.log.position).toBe(a.store.log.position);
  });

  test('writes nothing into a Redis that was set back to before what it has read', async () => {
    const a = await instance();
    for (let i = 0; i < 5; i++) await a.store.commit([put(`k${i}`, 'x')]);
    await admin.decrby('{agent-reach}:position', 2);
    const late = a.store.commit([put('late', 'x')]);
    await expect(late).rejects.toMatchObject({ code: 'AR_ERR_STORE_UNAVAILABLE' });
    expect(await admin.hexists('{agent-reach}:table:agents', 'late')).toBe(0);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expect.poll(() => a.store.problem).toContain('has lost changes');
    expect(a.state.size).toBe(5);
  });

  test('says how long it has heard nothing, catches up when Redis is back, and takes nothing from other data', async () => {
    const own = await TestRedis.start('--appendonly', 'yes');
    onTestFinished(() => own.stop());
    const [a, b] = [await instance({ url: own.url }), await instance({ url: own.url })];
    await a.store.commit([put('before', '1')]);
    await expect.poll(() => b.state.size).toBe(1);
    expect(a.store.log.staleMs).toBeNull();
    await own.kill();
    await expect.poll(() => a.store.log.staleMs ?? 0).toBeGreaterThan(0);
    await own.run('--appendonly', 'yes');
    await expect.poll(() => a.store.log.staleMs, { timeout: 10_000 }).toBeNull();
    await expect
      .poll(() => a.store.commit([put('after', '2')]).then(String, String), { timeout: 5_000 })
      .toBe('undefined');
    await expect.poll(() => b.state.get('after'), { timeout: 5_000 }).toBe('2');
    await own.kill();
    await own.run();
    await expect.poll(() => a.store.problem, { timeout: 10_000 }).toContain('other data');
    expect(a.store.log.staleMs).toBeGreaterThan(0);
    expect(a.state.size).toBe(2);
  });
});
