import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { AgentReachError } from '../../src/core/index.ts';
import { redisKeys } from '../../src/redis/index.ts';
import { type LogEntry, RedisStore } from '../../src/storage/index.ts';
import { hasRedisServer, TestRedis } from './redis-server.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (key: string, text: string) => ({ table: 'agents' as const, key, value: bytes(text) });

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const keys = redisKeys();
const LONG = { timeout: 5_000 };

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
    let refusal: ((entry: LogEntry) => Error | undefined) | undefined;
    const refuse = (when: typeof refusal): void => {
      refusal = when;
    };
    const hold = (until: Promise<void>): void => {
      held = until;
    };
    store.log.follow({
      async onEntry(entry) {
        await held;
        const error = refusal?.(entry);
        if (error !== undefined) throw error;
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
    return { store, seen, entries, state, hold, refuse };
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
      // Handed over only after what follows on the commit.
      await expect.poll(() => a.seen).toContain(`${position} ${text}=${text}`);
    }
  });

  test('lets a commit go on in its place although its answer comes long after its entry', async () => {
    const [a, b] = [await instance(), await instance()];
    const late = gate();
    const { redis } = a.store.link;
    const send = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>;
    vi.spyOn(redis, 'eval').mockImplementationOnce(async (...args: unknown[]) => {
      const answer = await send(...args);
      await late.opened;
      return answer;
    });
    const committed = a.store.commit([put('same', 'by a')]).then(() => a.seen.push('the commit of a went on'));
    await expect.poll(() => b.state.get('same')).toBe('by a');
    await b.store.commit([put('same', 'by b')]);
    await admin.ping();
    await new Promise(setImmediate);
    late.open();
    await committed;
    await expect.poll(() => a.state.get('same')).toBe('by b');
    expect(a.seen.indexOf('the commit of a went on')).toBeLessThan(a.seen.indexOf('3 same=by b'));
  });

  test('takes a commit whose answer was lost for one of another instance', async () => {
    const [a, b] = [await instance(), await instance()];
    const { redis } = a.store.link;
    const send = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>;
    vi.spyOn(redis, 'eval').mockImplementationOnce(async (...args: unknown[]) => {
      await send(...args);
      throw new Error('Connection is closed.');
    });
    await expect(a.store.commit([put('same', 'by a')])).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
      message: `Redis at ${server.url} did not answer: the change may have been made, or still be within 4 s`,
    });
    await expect.poll(() => [a.state.get('same'), b.state.get('same')]).toEqual(['by a', 'by a']);
    expect(a.entries.at(-1)).toMatchObject({ isOwn: false });
  });

  test('lets all that follows on a commit happen before an entry that was read together with its own', async () => {
    const [a, b] = [await instance(), await instance()];
    const { opened, open: goOn } = gate();
    a.hold(opened);
    await b.store.commit([put('first', '1')]);
    const committed = a.store.commit([put('own', '2')]).then(async () => {
      // As many layers as lie between a caller and the store.
      for (let layer = 0; layer < 50; layer++) await undefined;
      a.seen.push('the commit of a went on');
    });
    await expect.poll(() => b.state.get('own')).toBe('2');
    await b.store.commit([put('next', '3')]);
    goOn();
    await committed;
    await expect.poll(() => a.state.get('next')).toBe('3');
    const [wentOn, next] = [a.seen.indexOf('the commit of a went on'), a.seen.indexOf('4 next=3')];
    expect(wentOn).toBeLessThan(next);
  });

  describe('where an entry', () => {
    test('cannot be taken in, reads its rows instead and goes on', async () => {
      const [a, b] = [await instance(), await instance()];
      b.refuse((entry) => (entry.isAfterGap ? undefined : new TypeError('not for this version')));
      await a.store.commit([put('poison', '1')]);
      await expect.poll(() => b.state.get('poison')).toBe('1');
      b.refuse(undefined);
      await a.store.commit([put('next', '2')]);
      await expect.poll(() => b.state.get('next')).toBe('2');
      await b.store.commit([put('next', '3')]);
      expect(b.store.problem).toBeNull();
    });

    test('has rows that cannot be taken in either, goes on without them', async () => {
      const [a, b] = [await instance(), await instance()];
      b.refuse(({ writes }) => (writes.some(({ key }) => key === 'poison') ? new TypeError('never') : undefined));
      await a.store.commit([put('poison', '1')]);
      await a.store.commit([put('next', '2')]);
      await expect.poll(() => b.state.get('next')).toBe('2');
      expect(b.state.has('poison')).toBe(false);
      await b.store.commit([put('mine', '3')]);
      expect(b.store.log.staleMs).toBeNull();
    });

    test('cannot be read, reads its rows instead and goes on, also after a broken connection', async () => {
      const a = await instance();
      await admin
        .multi()
        .incr(keys.position)
        .hset(keys.table('agents'), 'from the future', '1')
        .xadd(keys.changes, `${a.store.log.position + 1}-0`, 'at', Date.now(), 'e', 'another form')
        .exec();
      await expect.poll(() => a.state.get('from the future')).toBe('1');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await expect.poll(() => a.store.commit([put('next', '2')]).then(String, () => 'refused'), LONG).toBe('undefined');
    });

    test('fails for the moment, hands it over again, rows that were missed too', async () => {
      const [a, b] = [await instance({ logEntries: 10 }), await instance({ logEntries: 10 })];
      const { opened, open: goOn } = gate();
      b.hold(opened);
      await Promise.all(Array.from({ length: 300 }, (_, i) => a.store.commit([put(`k${i}`, String(i))])));
      let failures = 0;
      b.refuse(({ isAfterGap }) =>
        isAfterGap && ++failures < 3 ? new AgentReachError('AR_ERR_STORE_UNAVAILABLE') : undefined,
      );
      goOn();
      await expect.poll(() => b.state.size, LONG).toBe(300);
      expect(failures).toBe(3);
    });
  });

  test.each(['its own', "another's"])(
    'notices that the entry it began at, %s, is not the one of then',
    async (whose) => {
      if (whose !== 'its own') await (await instance()).store.commit([put('other', '1')]);
      const a = await instance();
      const at = `${a.store.log.position}-0`;
      await admin.del(keys.changes);
      await admin.xadd(keys.changes, at, 'at', 1, 'e', '["another",1,[]]\n');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await expect.poll(() => a.store.problem, LONG).toContain('has lost changes');
    },
  );

  test('keeps nothing of what the tables held at the start', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = (): number => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    await admin.hset(keys.table('agents'), 'large', Buffer.alloc(30_000_000, 1));
    const a = await instance();
    expect(a.store.log.isFollowing).toBe(true);
    await expect.poll(held, LONG).toBeLessThan(before + 10_000_000);
  });

  test('refuses what it cannot tell to be decided on the newest rows: Redis has forgotten which changed when', async () => {
    const [a, b] = [await instance(), await instance()];
    const { opened, open: goOn } = gate();
    a.hold(opened);
    for (let i = 0; i < 5; i++) await b.store.commit([put('same', String(i))]);
    await admin.multi().del(keys.recent).set(keys.recentFloor, b.store.log.position).exec();
    const late = a.store.commit([put('same', 'by a')]);
    goOn();
    await expect(late).rejects.toMatchObject({ code: 'AR_ERR_STORE_CONFLICT' });
    expect(a.state.get('same')).toBe('4');
    await a.store.commit([put('same', 'by a')]);
    await expect.poll(() => b.state.get('same')).toBe('by a');
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
    const { opened, open: goOn } = gate();
    b.hold(opened);
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

  describe('where Redis was emptied with no connection lost', () => {
    const OTHER = { timeout: 2_500 };

    test('notices that, reads and writes nothing there, and goes on once its own data is back', async () => {
      const a = await instance();
      await a.store.commit([put('k', '1')]);
      const all = await admin.keys('*');
      const saved = await Promise.all(all.map(async (key) => [key, await admin.dumpBuffer(key)] as const));
      await admin.flushall();
      await expect.poll(() => a.store.problem, OTHER).toContain('holds other data');
      expect(a.store.log.staleMs).not.toBeNull();
      const refusal = { code: 'AR_ERR_STORE_UNAVAILABLE', message: expect.stringContaining('holds other data') };
      await expect(a.store.commit([put('late', '2')])).rejects.toMatchObject(refusal);
      await expect(a.store.entries('vectors')).rejects.toMatchObject(refusal);
      await expect(a.store.range('audit', { limit: 1 })).rejects.toMatchObject(refusal);
      expect(await admin.dbsize()).toBe(0);
      for (const [key, value] of saved) await admin.restore(key, 0, value);
      await expect.poll(() => a.store.problem, LONG).toBeNull();
      await a.store.commit([put('late', '2')]);
      await expect.poll(() => a.entries.at(-1)?.position).toBe(3);
    });

    test('takes nothing of what another one has stored there since', async () => {
      const olds = [await instance(), await instance()];
      for (let i = 0; i < 20; i++) await olds[0]?.store.commit([put(`old${i}`, '1')]);
      await expect.poll(() => olds[1]?.state.size).toBe(20);
      await admin.flushall();
      const young = await instance();
      for (let i = 0; i < 40; i++) await young.store.commit([put(`new${i}`, '1')]);
      for (const old of olds) {
        await expect.poll(() => old.store.problem, OTHER).toContain('holds other data');
        expect([...old.state.keys()].filter((key) => key.startsWith('new'))).toEqual([]);
      }
      await expect.poll(() => young.state.size).toBe(40);
    });

    test('notices that it was set back as well', async () => {
      const a = await instance();
      for (let i = 0; i < 5; i++) await a.store.commit([put(`k${i}`, 'x')]);
      await admin.decrby(keys.position, 2);
      await expect.poll(() => a.store.problem, OTHER).toContain('has lost changes');
    });
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
