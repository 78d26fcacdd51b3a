import { describe, expect, test } from 'vitest';
import { makeBench, pass, type RegistryBench, registrationOf, settle } from './registry-bench.ts';

const view = (bench: RegistryBench) => bench.registry.get('a');

async function withAgent(changes: Record<string, unknown> = {}, bench = makeBench()) {
  const { reply } = await bench.registry.register(registrationOf('a', changes));
  const { leaseId } = reply;
  return { bench, leaseId, beat: (more = {}) => bench.registry.heartbeat('a', { leaseId, ...more }) };
}

describe('a cordon', () => {
  test('holds against beats, new starts and restarts of the service, until it is lifted', async () => {
    const { bench, beat } = await withAgent();
    expect(await bench.registry.cordon('a', { reason: 'disk' }, 'ops')).toMatchObject({
      state: 'cordoned',
      revision: 2,
      cordoned: { by: 'ops', reason: 'disk', at: '2026-01-01T00:00:00.000Z' },
    });
    expect(beat({ status: 'healthy' })).toMatchObject({
      state: 'cordoned',
      warnings: [{ code: 'cordoned', message: expect.stringContaining('disk') }],
    });
    const { reply } = await bench.registry.register(registrationOf('a', { version: '2.0.0' }));
    expect(reply.warnings).toMatchObject([{ code: 'cordoned' }]);
    expect(view(bench)).toMatchObject({ state: 'cordoned', incarnation: 2 });
    await bench.registry.stop();
    const later = makeBench({ store: bench.store, clock: bench.clock });
    await later.registry.load();
    expect(view(later).state).toBe('cordoned');
    expect(await later.registry.uncordon('a')).toMatchObject({ state: 'online', cordoned: null });
    expect(later.moves()).toEqual(['a: cordoned > online (uncordoned)']);
  });

  test('said twice is one event; another reason is a change of the record, not of the state', async () => {
    const { bench } = await withAgent();
    await bench.registry.cordon('a', { reason: 'disk' }, 'ops');
    await bench.registry.cordon('a', { reason: 'disk' }, 'ops');
    expect(view(bench).revision).toBe(2);
    await bench.registry.cordon('a', { reason: 'network' }, 'ops');
    await bench.registry.uncordon('a');
    await bench.registry.uncordon('a');
    expect(bench.events.map((event) => event.type)).toEqual([
      'agent.registered',
      'agent.state_changed',
      'agent.updated',
      'agent.state_changed',
    ]);
  });

  test('hides a death behind it, which shows when it is lifted', async () => {
    const { bench } = await withAgent();
    await bench.registry.cordon('a', { reason: 'disk' }, 'ops');
    bench.clock.advance(90_000);
    expect(view(bench).state).toBe('cordoned');
    expect((await bench.registry.uncordon('a')).state).toBe('offline');
  });

  test('that cannot be stored is refused and changes nothing', async () => {
    const { bench } = await withAgent();
    bench.store.isBroken = true;
    await expect(bench.registry.cordon('a', { reason: 'disk' }, 'ops')).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
    });
    expect(view(bench)).toMatchObject({ state: 'online', revision: 1 });
    await expect(bench.registry.cordon('nobody', { reason: 'disk' }, 'ops')).rejects.toMatchObject({
      code: 'AR_ERR_AGENT_NOT_FOUND',
    });
  });

  test('keeps what a beat said while it was being stored', async () => {
    const { bench, beat } = await withAgent();
    const release = bench.store.hold();
    const cordoned = bench.registry.cordon('a', { reason: 'disk' }, 'ops');
    await settle();
    beat({ load: { active: 3, queued: 0 }, status: 'busy' });
    release();
    expect(await cordoned).toMatchObject({ state: 'cordoned', reportedLoad: { active: 3 } });
    expect((await bench.registry.uncordon('a')).state).toBe('busy');
  });
});

describe('a drain', () => {
  test('by an operator outdoes the agent, ends offline at its deadline, and with the next start', async () => {
    const { bench, beat } = await withAgent();
    const drained = await bench.registry.drain('a', { drainTimeoutMs: 60_000 }, null, 'ops');
    expect(drained).toMatchObject({ state: 'draining', drain: { by: 'ops', until: '2026-01-01T00:01:00.000Z' } });
    expect(beat({ status: 'healthy', load: { active: 2, queued: 1 } })).toMatchObject({
      state: 'draining',
      warnings: [{ code: 'draining' }],
    });
    expect(view(bench).load).toBe(3 / 8);
    bench.clock.advance(59_999);
    beat();
    expect(view(bench).state).toBe('draining');
    bench.clock.advance(1);
    expect(view(bench)).toMatchObject({ state: 'offline', stateReason: 'drain_over' });
    expect(beat({ status: 'healthy' }).state).toBe('offline');
    await bench.registry.register(registrationOf('a'));
    expect(view(bench)).toMatchObject({ state: 'online', drain: null });
  });

  test('by the agent has a deadline that its later beats do not move, and that its word takes back', async () => {
    const { bench, beat } = await withAgent();
    expect(beat({ status: 'draining', drainTimeoutMs: 60_000 }).state).toBe('draining');
    bench.clock.advance(30_000);
    beat({ status: 'draining', drainTimeoutMs: 60_000 });
    expect(view(bench).drain).toMatchObject({ by: null, until: '2026-01-01T00:01:00.000Z' });
    bench.clock.advance(30_000);
    expect(view(bench).state).toBe('offline');
    expect(beat().state).toBe('offline');
    expect(beat({ status: 'healthy' }).state).toBe('online');
    await settle();
    expect((await bench.store.load()).agents).toMatchObject([{ drain: null, offlineAt: null }]);
  });

  test('survives a restart with what is left of its time', async () => {
    const { bench } = await withAgent({ heartbeatIntervalMs: 60_000 });
    await bench.registry.drain('a', { drainTimeoutMs: 60_000 }, null, 'ops');
    await bench.registry.stop();
    bench.clock.advance(40_000);
    const later = makeBench({ store: bench.store, clock: bench.clock });
    await later.registry.load();
    expect(view(later).state).toBe('draining');
    await pass(later.clock, 19_000);
    expect(view(later).state).toBe('draining');
    await pass(later.clock, 1_000);
    expect(view(later).state).toBe('offline');
  });

  test('is taken back by an operator while it lasts, and asked for by the agent with its lease only', async () => {
    const { bench, leaseId } = await withAgent();
    await expect(bench.registry.drain('a', {}, 'lease_old', 'agent')).rejects.toMatchObject({
      code: 'AR_ERR_STALE_LEASE',
    });
    expect(await bench.registry.drain('a', {}, leaseId, 'agent')).toMatchObject({
      state: 'draining',
      drain: { by: null, until: '2026-01-01T00:05:00.000Z' },
    });
    expect((await bench.registry.endDrain('a')).state).toBe('online');
    bench.clock.advance(34_999);
    expect(view(bench).state).toBe('online');
  });

  test('of no time at all is offline at once', async () => {
    const { bench } = await withAgent();
    await bench.registry.drain('a', { drainTimeoutMs: 0 }, null, 'ops');
    bench.clock.advance(0);
    expect(view(bench).state).toBe('offline');
  });
});

describe('fencing', () => {
  test('100 equal registrations at once make one record, one revision and one event', async () => {
    const { bench } = await withAgent();
    const epoch = bench.registry.view.epoch;
    const replies = await Promise.all(Array.from({ length: 100 }, () => bench.registry.register(registrationOf('a'))));
    expect(new Set(replies.map(({ reply }) => reply.leaseId)).size).toBe(100);
    expect(bench.events.map((event) => event.type)).toEqual(['agent.registered']);
    expect(bench.registry.view.epoch).toBe(epoch);
    expect(bench.registry.list({ limit: 10 }).items).toMatchObject([{ revision: 1, incarnation: 101 }]);
    const newest = replies.find(({ reply }) => reply.incarnation === 101)?.reply.leaseId ?? '';
    expect(bench.registry.heartbeat('a', { leaseId: newest }).state).toBe('online');
    for (const { reply } of replies) {
      if (reply.leaseId === newest) continue;
      expect(() => bench.registry.heartbeat('a', reply)).toThrow(
        expect.objectContaining({ code: 'AR_ERR_STALE_LEASE' }),
      );
    }
  });

  test('a new start that says something new is one revision and one event', async () => {
    const { bench } = await withAgent();
    await bench.registry.register(registrationOf('a', { tags: { tier: 'gold' } }));
    await bench.registry.register(registrationOf('a', { tags: { tier: 'gold' } }));
    expect(view(bench)).toMatchObject({ revision: 2, incarnation: 3 });
    expect(bench.events.map((event) => event.type)).toEqual(['agent.registered', 'agent.updated']);
  });

  test('a new start with the same ttl renews its term and tells nobody', async () => {
    const { bench } = await withAgent({ ttl: 100 });
    bench.clock.advance(30_000);
    await bench.registry.register(registrationOf('a', { ttl: 100 }));
    expect(view(bench)).toMatchObject({ revision: 1, expiresAt: '2026-01-01T00:02:10.000Z' });
    expect(bench.events).toHaveLength(1);
  });

  test('a lease that nobody knows any more is told apart from one that another start took over', async () => {
    const { bench, leaseId } = await withAgent();
    await bench.registry.withdraw('a', null);
    expect(() => bench.registry.heartbeat('a', { leaseId })).toThrow(
      expect.objectContaining({ code: 'AR_ERR_LEASE_FORGOTTEN' }),
    );
  });

  test('a batch of beats tells of each, and one that is refused keeps none of the others from counting', async () => {
    const { bench, leaseId } = await withAgent();
    bench.clock.advance(34_000);
    const { results, refused } = bench.registry.heartbeats({
      beats: [
        { agentId: 'nobody', leaseId },
        { agentId: 'a', leaseId: 'lease_old' },
        { agentId: 'a', leaseId, load: { active: 1, queued: 0 } },
      ],
    });
    expect(refused).toBe(2);
    expect(results).toMatchObject([
      { agentId: 'nobody', error: { code: 'AR_ERR_LEASE_FORGOTTEN' } },
      { agentId: 'a', error: { code: 'AR_ERR_STALE_LEASE' } },
      { agentId: 'a', state: 'online', nextHeartbeatMs: 30_000 },
    ]);
    bench.clock.advance(34_999);
    expect(view(bench).state).toBe('online');
  });
});
