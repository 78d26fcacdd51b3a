/** The elected sweeper, its fence, and the deadlines of leases, on a real redis-server. */
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { BeatSender, type RedisLink, RedisTime, redisKeys, SweeperElection } from '../../src/redis/index.ts';
import type { RegistryChange } from '../../src/registry/index.ts';
import { KeyValueAgentStore, RedisStore } from '../../src/storage/index.ts';
import { hasRedisServer, type TestRedis } from '../storage/redis-server.ts';
import { sampleRecord } from '../storage/sample-record.ts';
import { DATA, freshRedis } from './fresh-redis.ts';

describe.runIf(hasRedisServer)('the sweeper', () => {
  let server: TestRedis;
  let redis: Redis;
  const keys = redisKeys();
  const ends: (() => Promise<void>)[] = [];
  freshRedis((started, client) => {
    server = started;
    redis = client;
  });
  afterEach(() => Promise.all(ends.splice(0).map((end) => end())).then(() => undefined));

  function candidate(instance: string) {
    const clock = new ManualClock();
    const link: RedisLink = { redis, place: server.url, keys, data: DATA, clock, time: new RedisTime(), instance };
    const fences: (string | null)[] = [];
    const election = new SweeperElection({ link, onChange: (fence) => fences.push(fence) });
    ends.push(() => election.stop());
    return { clock, fences, election };
  }

  test('is one of many, and another one under a higher fence once its term is over', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    await a.election.start();
    await b.election.start();
    expect([a.fences, b.fences]).toEqual([['1'], []]);
    // A stopped process renews nothing, and Redis lets its key lapse.
    await redis.del(keys.sweeper);
    b.clock.advance(1_000);
    await expect.poll(() => b.fences).toEqual(['2']);
    a.clock.advance(3_000);
    await expect.poll(() => a.fences).toEqual(['1', null]);
  });

  test('stops when its term is over, whenever it last tried to renew it', async () => {
    const { clock, fences, election } = candidate('a');
    await election.start();
    const away = vi.spyOn(redis, 'eval').mockRejectedValue(new Error('Connection is closed.'));
    onTestFinished(() => away.mockRestore());
    clock.stall(1_400);
    clock.advance(1_599);
    expect(fences).toEqual(['1']);
    clock.advance(1);
    expect(fences).toEqual(['1', null]);
  });

  test('is nobody whose answer came later than the term lasts', async () => {
    const { clock, fences, election } = candidate('a');
    let answer = (_fence: number): void => undefined;
    const answered = new Promise<number>((resolve) => {
      answer = resolve;
    });
    vi.spyOn(redis, 'eval').mockReturnValueOnce(answered);
    const started = election.start();
    clock.stall(3_000);
    answer(1);
    await started;
    expect(fences).not.toContain('1');
  });

  test.each(['other', 'no'])('is nobody over %s data, and nothing is written there', async (what) => {
    const { clock, fences, election } = candidate('a');
    await election.start();
    expect(fences).toEqual(['1']);
    await redis.flushall();
    if (what === 'other') await redis.set(keys.logId, 'what others put there');
    const found = await redis.keys('*');
    clock.advance(1_000);
    await redis.ping();
    clock.advance(2_000);
    expect(fences).toEqual(['1', null]);
    await candidate('b').election.start();
    expect(await redis.keys('*')).toEqual(found);
    await redis.set(keys.logId, DATA);
    clock.advance(1_000);
    await expect.poll(() => fences).toEqual(['1', null, '1']);
  });

  test('makes room at once when it stops', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    await a.election.start();
    await a.election.stop();
    expect(a.fences).toEqual(['1', null]);
    await b.election.start();
    expect(b.fences).toEqual(['2']);
  });

  async function opened(): Promise<{ store: RedisStore; agents: KeyValueAgentStore }> {
    const store = await RedisStore.open({ url: server.url });
    ends.push(() => store.close());
    return { store, agents: new KeyValueAgentStore(store) };
  }

  test.each(['lease_lapsed', 'probe_failed', 'cordoned'])(
    'alone ends leases (%s), under the newest fence, and only those that are over by the clock of Redis',
    async (why) => {
      const { store, agents } = await opened();
      const offline = sampleRecord('a', { offlineAt: 1 });
      const ending = async (change: RegistryChange): Promise<string> => {
        const end = { ...change, endsLease: true } as const;
        return agents.commit(end).then(
          () => 'stored',
          (error) => error.code,
        );
      };
      const end = () => ending({ putAgents: [offline], why });
      const evict = () => ending({ removeAgents: [offline.agentId], why: 'evicted' });
      await agents.commit({ putAgents: [sampleRecord('a')] });
      expect([await end(), await evict()]).toEqual(['AR_ERR_LEASE_WATCHED', 'AR_ERR_LEASE_WATCHED']);
      await redis.set(keys.fence, '7');
      store.useFence('6');
      expect([await end(), await evict()]).toEqual(['AR_ERR_LEASE_WATCHED', 'AR_ERR_LEASE_WATCHED']);
      store.useFence('7');
      await redis.zadd(keys.deadlines, Date.now() + 60_000, 'a');
      expect([await end(), await evict()]).toEqual(['AR_ERR_LEASE_WATCHED', 'AR_ERR_LEASE_WATCHED']);
      expect((await agents.load()).agents).toMatchObject([{ agentId: 'a', offlineAt: null }]);
      await redis.zadd(keys.deadlines, 1, 'a');
      expect([await end(), await evict()]).toEqual(['stored', 'stored']);
      expect(await redis.zcard(keys.deadlines)).toBe(0);
    },
  );

  test('hears of beats at other instances: they put deadlines off by the newest lease only', async () => {
    const { store, agents } = await opened();
    const quoting = sampleRecord('b', { metadata: { leaseId: 'lease_0' } });
    await agents.commit({ putAgents: [sampleRecord('a'), quoting] });
    const clock = new ManualClock();
    const sender = new BeatSender({ ...store.link, clock, time: new RedisTime() }, store.log, store.writes);
    const send = (agentId: string, leaseId: string, leaseMs: number) =>
      sender.send({ agentId, leaseId, leaseMs, told: { agentId, leaseId } });
    send('a', 'lease_1', 1);
    send('a', 'lease_1', 60_000);
    send('b', 'lease_0', 60_000);
    send('nobody', 'lease_1', 60_000);
    expect(await redis.exists(keys.beats)).toBe(0);
    clock.advance(25);
    await expect.poll(() => redis.xlen(keys.beats)).toBe(1);
    expect(await redis.zrange(keys.deadlines, '0', '-1')).toEqual(['a']);
    expect(Number(await redis.zscore(keys.deadlines, 'a'))).toBeGreaterThan(Date.now() + 50_000);
  });

  test('beats that reach Redis too late tell nobody anything, and the next ones are refused until writes are taken', async () => {
    const { store, agents } = await opened();
    await agents.commit({ putAgents: [sampleRecord('a')] });
    const clock = new ManualClock();
    const time = new RedisTime();
    time.learn(Date.now() - 10_000, clock.now(), clock.now());
    const sender = new BeatSender({ ...store.link, clock, time }, store.log, store.writes);
    sender.send({ agentId: 'a', leaseId: 'lease_1', leaseMs: 60_000, told: {} });
    clock.advance(25);
    await expect.poll(() => store.writes.problem).toMatch(/too late/);
    expect([await redis.exists(keys.beats), await redis.zcard(keys.deadlines)]).toEqual([0, 0]);
    await expect.poll(() => store.writes.problem).toBe(null);
  });

  async function beating() {
    const { store, agents } = await opened();
    const clock = new ManualClock();
    const sender = new BeatSender({ ...store.link, clock, time: new RedisTime() }, store.log, store.writes);
    let batches = 0;
    /** Until its batch was told. */
    const beat = async (agentId: string, leaseId: string) => {
      sender.send({ agentId, leaseId, leaseMs: 60_000, told: { agentId, leaseId } });
      clock.advance(25);
      batches += 1;
      await expect.poll(() => redis.xlen(keys.beats)).toBe(batches);
    };
    return { store, agents, beat, clock, sender };
  }

  test('knows the newest lease of data that another version wrote, and of an agent that started anew', async () => {
    const { agents, beat } = await beating();
    const started = (leaseId: string) => agents.commit({ putAgents: [sampleRecord('a', leaseOf(leaseId))] });
    const leaseOf = (leaseId: string) => ({ leaseId: leaseId as ReturnType<typeof sampleRecord>['leaseId'] });
    const isPutOff = async (): Promise<boolean> => {
      const deadline = await redis.zscore(keys.deadlines, 'a');
      await redis.del(keys.deadlines);
      return deadline !== null;
    };
    await started('lease_1');
    await beat('a', 'lease_1');
    expect(await isPutOff()).toBe(true);
    // Nothing is read of the row then.
    await redis.hset(keys.table('agents'), 'a', 'no record');
    await beat('a', 'lease_1');
    expect(await isPutOff()).toBe(true);
    await beat('a', 'lease_2');
    expect(await isPutOff()).toBe(false);
    await started('lease_2');
    await beat('a', 'lease_1');
    expect(await isPutOff()).toBe(false);
    await beat('a', 'lease_2');
    expect(await isPutOff()).toBe(true);
    // As an instance does that knows of no such hash.
    await redis.hset(keys.leases, 'a', 'lease_1');
    await beat('a', 'lease_2');
    expect(await isPutOff()).toBe(true);
    await agents.commit({ removeAgents: [sampleRecord('a').agentId] });
    await beat('a', 'lease_2');
    expect([await isPutOff(), await redis.exists(keys.leases)]).toEqual([false, 0]);
  });

  test('hears of no beats that were sent to other data, or to data set back to before what was read', async () => {
    const { store, agents, beat, clock, sender } = await beating();
    store.log.follow({ onEntry: () => undefined, onBeats: () => undefined });
    await agents.commit({ putAgents: [sampleRecord('a')] });
    await beat('a', 'lease_1');
    const unheard = async (key: string, value: string) => {
      const was = await redis.getset(key, value);
      await redis.del(keys.deadlines);
      sender.send({ agentId: 'a', leaseId: 'lease_1', leaseMs: 60_000, told: {} });
      clock.advance(25);
      // In turn after the script: both are on connections of this process, and Redis takes one at a time.
      await store.link.redis.ping();
      expect([await redis.xlen(keys.beats), await redis.exists(keys.deadlines)]).toEqual([1, 0]);
      await redis.set(key, was ?? '');
    };
    await unheard(keys.logId, 'other data');
    await unheard(keys.position, '1');
    await beat('a', 'lease_1');
  });
});
