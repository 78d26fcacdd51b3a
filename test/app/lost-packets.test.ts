/** Links that lose every packet and say nothing: of an agent, and of one instance to Redis. Real sockets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { hasRedisServer } from '../storage/redis-server.ts';
import { call, registration } from './client.ts';
import type { HashService } from './hash-service.ts';
import { type RedisCluster, routed, startCluster } from './redis-cluster.ts';
import { StallingProxy } from './stalling-proxy.ts';

const BRIEF = { heartbeatIntervalMs: 1_000 };

describe.runIf(hasRedisServer)('where packets are lost', () => {
  const ends: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function linkTo(target: () => number): Promise<StallingProxy> {
    const link = await StallingProxy.start(target);
    ends.push(() => link.stop());
    return link;
  }

  async function start(count: number): Promise<RedisCluster> {
    const cluster = await startCluster(count);
    ends.push(() => cluster.stop());
    return cluster;
  }

  async function stateOf({ url }: HashService, agentId: string): Promise<string> {
    return (await call(url, 'GET', `/v1/agents/${agentId}`)).body.state;
  }

  function every(ms: number, task: () => Promise<unknown>): void {
    const timer = setInterval(() => void task().catch(() => undefined), ms);
    ends.push(() => clearInterval(timer));
  }

  /** Beats over its own link, answers its probes over the same one. */
  async function startAgent(agentId: string, service: HashService, link: StallingProxy): Promise<StallingProxy> {
    const server = createServer((_request, response) => response.end('{"status":"healthy"}')).listen(0, '127.0.0.1');
    ends.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const back = await linkTo(() => (server.address() as AddressInfo).port);
    const endpoint = `http://127.0.0.1:${back.port}`;
    const { body } = await call(service.url, 'POST', '/v1/agents', {
      ...registration(agentId, [`${agentId}.do.it`], BRIEF),
      transport: { type: 'http', endpoint, healthEndpoint: `${endpoint}/health` },
    });
    const { leaseId } = body;
    every(250, () =>
      fetch(`http://127.0.0.1:${link.port}/v1/agents/${agentId}/heartbeat`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ leaseId }),
        signal: AbortSignal.timeout(500),
      }),
    );
    return back;
  }

  test('an agent is suspect, then offline in time, gets no work from then on, and is back with its link', async () => {
    const { instances } = await start(1);
    const [service] = instances as [HashService];
    const there = await linkTo(() => Number(new URL(service.url).port));
    const back = await startAgent('far', service, there);
    expect(await routed(service, 'far.do.it')).toBe('far');
    there.stall();
    back.stall();
    const stalledAt = performance.now();
    const states = new Set<string>();
    for (let state = ''; state !== 'offline'; ) {
      const before = await stateOf(service, 'far');
      const target = await routed(service, 'far.do.it');
      state = await stateOf(service, 'far');
      states.add(state);
      if (before === 'offline') expect(target).toBeNull();
      expect(performance.now() - stalledAt).toBeLessThan(9_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // Three intervals and no sooner; the probe that began meanwhile has failed by then, or is the last word a little later.
    expect(performance.now() - stalledAt).toBeGreaterThan(2_500);
    expect([...states]).toEqual(['online', 'suspect', 'offline']);
    expect(await routed(service, 'far.do.it')).toBeNull();
    there.heal();
    back.heal();
    await expect.poll(() => stateOf(service, 'far'), { timeout: 3_000 }).toBe('online');
    expect(await routed(service, 'far.do.it')).toBe('far');
  }, 30_000);

  /** Two instances; the first one, the sweeper, has its own link to Redis. */
  async function startLinked(): Promise<{ far: HashService; near: HashService; link: StallingProxy }> {
    const cluster = await start(0);
    const link = await linkTo(() => cluster.redis.port);
    const far = await cluster.add(`redis://127.0.0.1:${link.port}`);
    const near = await cluster.add();
    return { far, near, link };
  }

  const register = (at: HashService, agentId: string, more: object = BRIEF) =>
    call(at.url, 'POST', '/v1/agents', registration(agentId, [`${agentId}.do.it`], { ...more }));

  async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
    const startedAt = performance.now();
    return { answer: await work, ms: performance.now() - startedAt };
  }

  const hasRefused = { status: 503, body: { code: 'AR_ERR_STORE_UNAVAILABLE', retryable: true } };

  test('an instance says that it is stale, routes on, refuses writes, and takes everything in when it is back', async () => {
    const { far, near, link } = await startLinked();
    const { body: lease } = await register(far, 'known', {});
    await expect.poll(() => routed(near, 'known.do.it')).toBe('known');
    link.stall();
    const stalledAt = performance.now();
    const inFlight = await Promise.all([
      timed(register(far, 'late', {})),
      timed(register(far, 'known', { version: '2.0.0' })),
      timed(call(far.url, 'POST', '/v1/agents/known/cordon', { reason: 'test' })),
    ]);
    for (const { answer, ms } of inFlight) {
      expect(answer).toMatchObject(hasRefused);
      expect(ms).toBeLessThan(3_000);
    }
    const reply = async () => (await call(far.url, 'POST', '/v1/route', { capability: 'known.do.it' })).body;
    await expect.poll(async () => (await reply()).stale, { timeout: 5_000 }).toBe(true);
    expect(performance.now() - stalledAt).toBeLessThan(3_500);
    expect(await reply()).toMatchObject({ agent: { agentId: 'known' }, staleMs: expect.any(Number) });
    const refusals = [
      await timed(register(far, 'late', {})),
      await timed(call(far.url, 'PUT', '/v1/agents/known/heartbeat', { leaseId: lease.leaseId })),
      await timed(call(far.url, 'DELETE', '/v1/agents/known')),
    ];
    for (const { answer, ms } of refusals) {
      expect(answer).toMatchObject(hasRefused);
      expect(ms).toBeLessThan(500);
    }
    for (let i = 0; i < 20; i++) expect((await register(near, `more_${i}`, {})).status).toBe(201);
    const again = await register(near, 'known', { version: '3.0.0' });
    expect(again).toMatchObject({ status: 200, body: { incarnation: 2 } });
    // Until what was sent into the dead link is too late to count.
    await new Promise((resolve) => setTimeout(resolve, 5_500 - (performance.now() - stalledAt)));
    link.heal();
    await expect.poll(async () => (await reply()).stale, { timeout: 8_000 }).toBeUndefined();
    await expect.poll(() => routed(far, 'more_19.do.it'), { timeout: 2_000 }).toBe('more_19');
    for (const at of [far, near]) {
      const { body } = await call(at.url, 'GET', '/v1/agents/known');
      expect(body).toMatchObject({ version: '3.0.0', incarnation: 2, state: 'online' });
      expect((await call(at.url, 'GET', '/v1/agents/late')).status).toBe(404);
      expect((await call(at.url, 'GET', '/v1/agents?limit=100')).body.items).toHaveLength(21);
    }
    expect(await register(far, 'late', {})).toMatchObject({ status: 201, body: { incarnation: 1 } });
    await expect.poll(() => routed(near, 'late.do.it')).toBe('late');
  }, 30_000);

  test('the sweeper hands over; neither what it ends nor the beats it took come through late', async () => {
    const { far, near, link } = await startLinked();
    const { body: kept } = await register(near, 'kept');
    const { body: dying } = await register(far, 'dying');
    await expect.poll(() => routed(far, 'kept.do.it')).toBe('kept');
    every(250, () => call(near.url, 'PUT', '/v1/agents/kept/heartbeat', { leaseId: kept.leaseId }));
    every(50, () => call(far.url, 'PUT', '/v1/agents/dying/heartbeat', { leaseId: dying.leaseId }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    link.stall();
    const stalledAt = performance.now();
    await expect.poll(() => stateOf(near, 'dying'), { timeout: 12_000 }).toBe('offline');
    // It dies now.
    for (const end of ends.splice(-1)) end();
    expect(await routed(near, 'dying.do.it')).toBeNull();
    // The last beat that was taken is news no more by then.
    await new Promise((resolve) => setTimeout(resolve, 5_000 - (performance.now() - stalledAt)));
    link.heal();
    const until = performance.now() + 4_000;
    while (performance.now() < until) {
      expect([await stateOf(near, 'kept'), await stateOf(near, 'dying')]).toEqual(['online', 'offline']);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect([await stateOf(far, 'kept'), await stateOf(far, 'dying')]).toEqual(['online', 'offline']);
  }, 40_000);
});
