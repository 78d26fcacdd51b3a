/** What is left when an instance, the sweeper or Redis itself fails. Real processes, a real redis-server. */
import { Redis } from 'ioredis';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { FeedEvent } from '../../src/contract/index.ts';
import { ReachClient } from '../../src/sdk/index.ts';
import { hasRedisServer } from '../storage/redis-server.ts';
import { call, registration } from './client.ts';
import type { HashService } from './hash-service.ts';
import { type RedisCluster, routed, startCluster } from './redis-cluster.ts';

const BRIEF = { heartbeatIntervalMs: 1_000 };

describe.runIf(hasRedisServer)('instances over one Redis', () => {
  let cluster: RedisCluster | undefined;
  const stop: (() => void)[] = [];
  afterEach(async () => {
    for (const one of stop.splice(0)) one();
    await cluster?.stop();
    cluster = undefined;
  });

  async function start(count: number, ...options: string[]): Promise<readonly HashService[]> {
    cluster = await startCluster(count, ...options);
    return cluster.instances;
  }

  async function stateOf({ url }: HashService, agentId: string): Promise<string> {
    const { status, body } = await call(url, 'GET', `/v1/agents/${agentId}`);
    return status === 200 ? body.state : String(status);
  }

  /** Beats at these instances in turn for as long as the test lasts. */
  function keepAlive(agentId: string, leaseId: string, instances: () => readonly HashService[]): void {
    let turn = 0;
    const timer = setInterval(() => {
      const targets = instances();
      const target = targets[turn++ % targets.length];
      if (target === undefined) return;
      call(target.url, 'PUT', `/v1/agents/${agentId}/heartbeat`, { leaseId }).catch(() => undefined);
    }, 300);
    stop.push(() => clearInterval(timer));
  }

  function watch(url: string, since?: string) {
    const ending = new AbortController();
    stop.push(() => ending.abort());
    const seen: FeedEvent[] = [];
    let ready = '';
    const options = { signal: ending.signal, ...(since === undefined ? {} : { since }) };
    const client = new ReachClient({ baseUrl: url });
    const followed = client.events.follow((event) => seen.push(event), {
      ...options,
      onReady: ({ id }) => {
        ready = id;
      },
    });
    followed.catch(() => undefined);
    return { seen, opened: () => expect.poll(() => ready, { timeout: 5_000 }).not.toBe('') };
  }

  test('mark a silent agent offline at all of them, and evict nobody whose beats another one takes', async () => {
    const [a, b] = (await start(2)) as [HashService, HashService];
    const { body: lease } = await call(a.url, 'POST', '/v1/agents', registration('kept', ['kept.do.it'], BRIEF));
    keepAlive('kept', lease.leaseId, () => [b]);
    const { body: silent } = await call(b.url, 'POST', '/v1/agents', registration('silent', ['silent.do.it'], BRIEF));
    await expect.poll(() => routed(a, 'silent.do.it')).toBe('silent');
    const feeds = [watch(a.url), watch(b.url)];
    for (const feed of feeds) await feed.opened();
    await expect.poll(() => stateOf(a, 'silent'), { timeout: 9_000 }).toBe('offline');
    await expect.poll(() => stateOf(b, 'silent'), { timeout: 1_000 }).toBe('offline');
    expect([await routed(a, 'silent.do.it'), await routed(b, 'silent.do.it')]).toEqual([null, null]);
    expect([await stateOf(a, 'kept'), await stateOf(b, 'kept')]).toEqual(['online', 'online']);
    const moves = (feed: { readonly seen: FeedEvent[] }) =>
      feed.seen.filter(({ agentId }) => agentId === 'silent').map(({ id, from, to, why }) => ({ id, from, to, why }));
    const [first, second] = feeds.map(moves);
    await expect.poll(() => feeds.map(moves).map((one) => one.at(-1)?.to)).toEqual(['offline', 'offline']);
    expect(feeds.map(moves)[1]).toEqual(feeds.map(moves)[0]);
    expect(moves(feeds[0] ?? { seen: [] }).at(-1)).toMatchObject({ to: 'offline', why: 'lease_lapsed' });
    expect(first?.length).toBe(second?.length);
    const told = first?.length ?? 0;
    await call(a.url, 'PUT', '/v1/agents/silent/heartbeat', { leaseId: silent.leaseId, status: 'busy' });
    await expect.poll(() => stateOf(b, 'silent')).toBe('busy');
    await call(b.url, 'POST', '/v1/agents/silent/cordon', { reason: 'test' });
    await call(b.url, 'DELETE', '/v1/agents/silent/cordon');
    for (const feed of feeds) {
      await expect
        .poll(() => moves(feed).slice(told))
        .toMatchObject([
          { from: 'offline', to: 'busy', why: 'beat' },
          { from: 'busy', to: 'cordoned', why: 'cordoned' },
          { from: 'cordoned', to: 'busy', why: 'uncordoned' },
        ]);
    }
  });

  test('refuse what a sweeper does that was stopped for longer than its term', async () => {
    const [a, b] = (await start(2)) as [HashService, HashService];
    const { body: lease } = await call(b.url, 'POST', '/v1/agents', registration('kept', ['kept.do.it'], BRIEF));
    await expect.poll(() => routed(a, 'kept.do.it')).toBe('kept');
    keepAlive('kept', lease.leaseId, () => [b]);
    const feed = watch(b.url);
    await feed.opened();
    // The first one to start is the sweeper.
    a.child.kill('SIGSTOP');
    await call(b.url, 'POST', '/v1/agents', registration('silent', ['silent.do.it'], BRIEF));
    // The other one is the sweeper by then, and the stopped one has heard of nobody for a lease.
    await expect.poll(() => stateOf(b, 'silent'), { timeout: 15_000 }).toBe('offline');
    a.child.kill('SIGCONT');
    await expect.poll(() => routed(a, 'kept.do.it'), { timeout: 5_000 }).toBe('kept');
    // What it judged when it went on was sent to Redis before this.
    const register = () => call(a.url, 'POST', '/v1/agents', registration('after', ['after.do.it']));
    await expect.poll(async () => (await register()).status, { timeout: 5_000 }).toBeLessThan(300);
    await expect.poll(() => feed.seen.some(({ agentId }) => agentId === 'after')).toBe(true);
    expect(await stateOf(b, 'kept')).toBe('online');
    const ends = feed.seen.filter(({ to, type }) => to === 'offline' || type === 'agent.evicted');
    expect(ends.map(({ agentId }) => agentId)).toEqual(['silent']);
  });

  test('let a watcher of a killed one go on at another, each change once', async () => {
    const [a, b] = (await start(2)) as [HashService, HashService];
    const first = watch(a.url);
    await first.opened();
    for (let i = 0; i < 5; i++) {
      await call(b.url, 'POST', '/v1/agents', registration(`agent-${i}`, ['bulk.do.it']));
    }
    await expect.poll(() => first.seen.length).toBe(5);
    a.child.kill('SIGKILL');
    await a.died;
    for (let i = 5; i < 9; i++) {
      await call(b.url, 'POST', '/v1/agents', registration(`agent-${i}`, ['bulk.do.it']));
    }
    const second = watch(b.url, first.seen[2]?.id ?? '');
    await expect.poll(() => second.seen.length).toBe(6);
    expect(second.seen.slice(0, 2)).toEqual(
      first.seen.slice(3).map((one, i) => ({ ...one, epoch: second.seen[i]?.epoch })),
    );
    const ids = [...first.seen.slice(0, 3), ...second.seen].map(({ agentId }) => agentId);
    expect(ids).toEqual(Array.from({ length: 9 }, (_, i) => `agent-${i}`));
  });

  test('let a watcher go on at one that was started since, also when all were killed, each change once', async () => {
    const [a] = (await start(1)) as [HashService];
    const first = watch(a.url);
    await first.opened();
    const register = (at: HashService, agentId: string, more: object = {}) =>
      call(at.url, 'POST', '/v1/agents', registration(agentId, ['bulk.do.it'], { ...more }));
    const { body: lease } = await register(a, 'one');
    await call(a.url, 'PUT', '/v1/agents/one/heartbeat', { leaseId: lease.leaseId, status: 'busy' });
    await register(a, 'two');
    await register(a, 'two', { version: '2.0.0' });
    await expect.poll(() => first.seen.length).toBe(4);
    const b = (await cluster?.add()) as HashService;
    const told = ({ id, type, agentId, to }: FeedEvent) => [id, type, agentId, to];
    const atB = watch(b.url, first.seen[0]?.id ?? '');
    await expect.poll(() => atB.seen.map(told)).toEqual(first.seen.slice(1).map(told));
    await call(b.url, 'DELETE', '/v1/agents/two');
    await expect.poll(() => first.seen.length).toBe(5);
    for (const one of [a, b]) one.child.kill('SIGKILL');
    await Promise.all([a.died, b.died]);
    const c = (await cluster?.add()) as HashService;
    const atC = watch(c.url, first.seen[0]?.id ?? '');
    await expect.poll(() => atC.seen.slice(0, 4).map(told)).toEqual(first.seen.slice(1).map(told));
    // Nobody knows any more that it was busy: it is told what it is taken for now.
    await expect
      .poll(() => atC.seen.slice(4).map(({ agentId, from, to }) => [agentId, from, to]), { timeout: 6_000 })
      .toEqual([['one', 'busy', 'online']]);
    expect(atC.seen.at(-1)?.type).toBe('agent.state_changed');
  });

  test('route on and say so while Redis is away, refuse what they cannot store, and catch up', async () => {
    const [a, b] = (await start(2, '--appendonly', 'yes')) as [HashService, HashService];
    const { body: lease } = await call(a.url, 'POST', '/v1/agents', registration('known', ['known.do.it']));
    await expect.poll(() => routed(b, 'known.do.it')).toBe('known');
    await cluster?.redis.kill();
    const reply = async (at: HashService) =>
      (await call(at.url, 'POST', '/v1/route', { capability: 'known.do.it' })).body;
    await expect.poll(async () => (await reply(a)).stale, { timeout: 5_000 }).toBe(true);
    expect(await reply(a)).toMatchObject({ agent: { agentId: 'known' }, staleMs: expect.any(Number) });
    expect((await call(a.url, 'GET', '/healthz')).body).toMatchObject({ stale: true });
    expect((await call(a.url, 'GET', '/readyz')).body).toMatchObject({ ready: true, checks: { store: { ok: false } } });
    for (const refused of [
      await call(a.url, 'POST', '/v1/agents', registration('new', ['new.do.it'])),
      await call(a.url, 'PUT', '/v1/agents/known/heartbeat', { leaseId: lease.leaseId }),
    ]) {
      expect(refused).toMatchObject({ status: 503, body: { code: 'AR_ERR_STORE_UNAVAILABLE', retryable: true } });
    }
    await cluster?.redis.run('--appendonly', 'yes');
    await expect.poll(async () => (await reply(a)).stale, { timeout: 9_000 }).toBeUndefined();
    await expect
      .poll(async () => (await call(a.url, 'POST', '/v1/agents', registration('new', ['new.do.it']))).status, {
        timeout: 5_000,
      })
      .toBe(201);
    await expect.poll(() => routed(b, 'new.do.it'), { timeout: 5_000 }).toBe('new');
    expect(await routed(b, 'known.do.it')).toBe('known');
  });

  test('refuse beats that they cannot tell, and take them by themselves once they can, whatever is stored', async () => {
    const [a] = (await start(1)) as [HashService];
    const { body: lease } = await call(a.url, 'POST', '/v1/agents', registration('beats', ['beats.do.it']));
    const admin = new Redis(cluster?.redis.url ?? '');
    onTestFinished(() => admin.disconnect());
    const beat = async () =>
      (await call(a.url, 'PUT', '/v1/agents/beats/heartbeat', { leaseId: lease.leaseId })).status;
    const LONG = { timeout: 5_000 };
    await admin.config('SET', 'maxmemory', '1');
    await expect.poll(beat, LONG).toBe(503);
    await admin.config('SET', 'maxmemory', '0');
    await expect.poll(beat, LONG).toBe(200);
    await admin.config('SET', 'maxmemory', '1');
    expect((await call(a.url, 'POST', '/v1/agents', registration('new', ['new.do.it']))).status).toBe(503);
    expect(await beat()).toBe(503);
    await admin.config('SET', 'maxmemory', '0');
    await expect.poll(beat, LONG).toBe(200);
  });

  test('start anew with everything that was acknowledged, the dead still dead', async () => {
    const [a] = (await start(1)) as [HashService];
    await call(a.url, 'POST', '/v1/agents', registration('well', ['well.do.it']));
    await call(a.url, 'POST', '/v1/agents', registration('dead', ['dead.do.it'], BRIEF));
    await expect.poll(() => stateOf(a, 'dead'), { timeout: 9_000 }).toBe('offline');
    a.child.kill('SIGKILL');
    await a.died;
    const next = await cluster?.add();
    if (next === undefined) throw new Error('no instance');
    expect([await stateOf(next, 'well'), await stateOf(next, 'dead')]).toEqual(['online', 'offline']);
    expect([await routed(next, 'well.do.it'), await routed(next, 'dead.do.it')]).toEqual(['well', null]);
  });
});
