import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CapabilityName } from '../../src/core/index.ts';
import { isExpired, isExpirySoon, leaseDeadline, nextHeartbeatMs } from '../../src/registry/lease.ts';
import { makeBench, type RegistryBench, registrationOf, settle } from './registry-bench.ts';

const CITY = 'weather.query.city' as CapabilityName;
const stateOf = (bench: RegistryBench, agentId = 'a'): string | undefined =>
  bench.registry.view.agent(agentId)?.liveness.state;

test('grants three intervals, to the millisecond, and never less than one beat takes', () => {
  expect(leaseDeadline(1_000, 30_000, 3)).toBe(91_000);
  expect(leaseDeadline(0, 30_000, 1)).toBe(35_000);
  expect(isExpired(91_000, 90_999)).toBe(false);
  expect(isExpired(91_000, 91_000)).toBe(true);
  expect(isExpirySoon(0, 100, 79)).toBe(false);
  expect(isExpirySoon(0, 100, 80)).toBe(true);
});

test('asks for the next beat within ten percent of the interval', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 86_400_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (every, random) => {
        const next = nextHeartbeatMs(every, random);
        expect(Number.isInteger(next)).toBe(true);
        expect(Math.abs(next - every)).toBeLessThanOrEqual(0.1 * every + 1);
      },
    ),
  );
});

test('spreads the next beats of 2,000 agents that came back at once over the fifth of an interval', () => {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const seconds = new Map<number, number>();
  for (let i = 0; i < 2_000; i++) {
    const second = Math.floor(nextHeartbeatMs(30_000, random()) / 1_000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  expect([...seconds.keys()].sort((a, b) => a - b)).toEqual([27, 28, 29, 30, 31, 32]);
  for (const count of seconds.values()) expect(count).toBeLessThan((2_000 / 6) * 1.25);
});

describe('a lease', () => {
  test('that three intervals did not renew takes the agent out of routing', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    bench.clock.advance(89_999);
    expect(stateOf(bench)).toBe('suspect');
    const epoch = bench.registry.view.epoch;
    bench.clock.advance(1);
    expect(stateOf(bench)).toBe('offline');
    expect(bench.registry.view.epoch).toBeGreaterThan(epoch);
    expect(bench.registry.view.agentsOf('default', CITY)[0]?.liveness.state).toBe('offline');
    expect(bench.events.at(-1)).toMatchObject({
      type: 'agent.state_changed',
      agentId: 'a',
      from: 'suspect',
      to: 'offline',
      why: 'lease_lapsed',
    });
    expect(bench.registry.capability('default', CITY)).toMatchObject({ agents: 1, routableAgents: 0 });
    expect(bench.registry.counts()).toMatchObject({ online: 0, offline: 1 });
  });

  test('is renewed in full by each beat', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a'));
    for (let beat = 0; beat < 5; beat++) {
      bench.clock.advance(80_000);
      expect(bench.registry.heartbeat('a', { leaseId: reply.leaseId })).toMatchObject({
        state: 'online',
        nextHeartbeatMs: 30_000,
        warnings: [],
      });
    }
    bench.clock.advance(90_000);
    expect(stateOf(bench)).toBe('offline');
  });

  test('does not follow the wall clock', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    bench.clock.shiftWall(10 * 3_600_000);
    bench.clock.advance(34_999);
    expect(stateOf(bench)).toBe('online');
    bench.clock.shiftWall(-20 * 3_600_000);
    bench.clock.advance(55_000);
    expect(stateOf(bench)).toBe('suspect');
    bench.clock.advance(1);
    expect(stateOf(bench)).toBe('offline');
  });

  test('that lapsed is taken up again by a beat, and both marks are stored', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a'));
    bench.clock.advance(90_000);
    await settle();
    expect((await bench.store.load()).agents).toMatchObject([{ offlineAt: bench.clock.wallNow() }]);
    expect(bench.registry.heartbeat('a', { leaseId: reply.leaseId }).state).toBe('online');
    await settle();
    expect((await bench.store.load()).agents).toMatchObject([{ offlineAt: null }]);
    expect(bench.events.map((event) => ('to' in event ? `${event.to} ${event.why}` : event.type))).toEqual([
      'agent.registered',
      'suspect beat_missed',
      'offline lease_lapsed',
      'online beat',
    ]);
    bench.clock.advance(34_999);
    expect(stateOf(bench)).toBe('online');
  });

  test('that lapses while a new start is being stored does not kill the new start', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    const release = bench.store.hold();
    const again = bench.registry.register(registrationOf('a'));
    await settle();
    bench.clock.advance(90_000);
    expect(stateOf(bench)).toBe('offline');
    release();
    await again;
    await bench.registry.stop();
    expect(stateOf(bench)).toBe('online');
    expect((await bench.store.load()).agents).toMatchObject([{ incarnation: 2, offlineAt: null }]);
  });

  test('of a loaded agent is one full lease, and an offline one stays offline', async () => {
    const before = makeBench();
    await before.registry.register(registrationOf('live'));
    await before.registry.register(registrationOf('dead', { heartbeatIntervalMs: 100 }));
    before.clock.advance(300);
    await before.registry.stop();
    const bench = makeBench({ store: before.store, clock: before.clock });
    bench.clock.advance(3_600_000);
    await bench.registry.load();
    expect([stateOf(bench, 'live'), stateOf(bench, 'dead')]).toEqual(['online', 'offline']);
    bench.clock.advance(89_999);
    expect(stateOf(bench, 'live')).toBe('suspect');
    bench.clock.advance(1);
    expect(stateOf(bench, 'live')).toBe('offline');
  });
});

describe('an agent long offline', () => {
  test('is evicted after a day, with its capability, and counts as new after that', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    bench.clock.advance(90_000 + 24 * 3_600_000 - 1);
    await settle();
    expect(stateOf(bench)).toBe('offline');
    expect(bench.index.current.size).toBe(1);
    bench.clock.advance(1);
    await settle();
    expect(stateOf(bench)).toBeUndefined();
    expect(bench.index.current.size).toBe(0);
    expect((await bench.store.load()).agents).toEqual([]);
    expect(bench.registry.capability('default', CITY)).toMatchObject({ agents: 0 });
    expect(bench.events.at(-1)?.type).toBe('agent.evicted');
    expect(await bench.registry.register(registrationOf('a'))).toMatchObject({
      created: true,
      reply: { incarnation: 1 },
    });
  });

  test('is known when it comes back within the day', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    bench.clock.advance(12 * 3_600_000);
    await settle();
    expect(await bench.registry.register(registrationOf('a'))).toMatchObject({
      created: false,
      reply: { incarnation: 2 },
    });
  });

  test('is evicted later where the store refuses first', async () => {
    const bench = makeBench();
    await bench.registry.register(registrationOf('a'));
    bench.clock.advance(90_000);
    await settle();
    bench.store.isBroken = true;
    bench.clock.advance(24 * 3_600_000);
    await settle();
    expect(stateOf(bench)).toBe('offline');
    bench.store.isBroken = false;
    bench.clock.advance(60_000);
    await settle();
    expect(stateOf(bench)).toBeUndefined();
  });
});

describe('expiresAt', () => {
  test('warns from 80 % of the way and ends the agent whatever it beats', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a', { ttl: 100, heartbeatIntervalMs: 60_000 }));
    const beat = () => bench.registry.heartbeat('a', { leaseId: reply.leaseId });
    bench.clock.advance(79_999);
    expect(beat().warnings).toEqual([]);
    bench.clock.advance(1);
    expect(beat().warnings).toMatchObject([{ code: 'expires_soon' }]);
    bench.clock.advance(20_000);
    expect(stateOf(bench)).toBe('offline');
    expect(beat()).toMatchObject({ state: 'offline', warnings: [{ code: 'expired' }] });
    await settle();
    expect((await bench.store.load()).agents[0]?.offlineAt).not.toBeNull();
  });

  test('passed while the service was down leaves the agent offline', async () => {
    const before = makeBench();
    await before.registry.register(registrationOf('a', { ttl: 10 }));
    await before.registry.stop();
    before.clock.advance(10_000);
    const bench = makeBench({ store: before.store, clock: before.clock });
    await bench.registry.load();
    expect(stateOf(bench)).toBe('offline');
  });

  test('ten years ahead neither fires nor spins the timer', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(
      registrationOf('a', { ttl: 315_360_000, heartbeatIntervalMs: 86_400_000 }),
    );
    bench.clock.advance(86_400_000);
    expect(bench.registry.heartbeat('a', { leaseId: reply.leaseId }).state).toBe('online');
  });
});

describe('a beat', () => {
  test('sets load, status and a smoothed latency', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a'));
    const { leaseId } = reply;
    bench.registry.heartbeat('a', { leaseId, load: { active: 2, queued: 2 }, avgLatencyMs: 100 });
    bench.registry.heartbeat('a', { leaseId, avgLatencyMs: 200 });
    expect(bench.registry.get('a')).toMatchObject({
      load: 0.5,
      avgLatencyMs: 130,
      reportedLoad: { active: 2, queued: 2 },
    });
    const epoch = bench.registry.view.epoch;
    bench.registry.heartbeat('a', { leaseId, load: { active: 9, queued: 0, max: 4 } });
    expect(bench.registry.view.epoch).toBe(epoch);
    expect(bench.registry.get('a').load).toBe(1);
    expect(bench.registry.heartbeat('a', { leaseId, status: 'draining' }).state).toBe('draining');
    expect(bench.registry.heartbeat('a', { leaseId }).state).toBe('draining');
    expect(bench.registry.heartbeat('a', { leaseId, status: 'healthy' }).state).toBe('online');
    expect(bench.events.slice(1)).toMatchObject([
      { type: 'agent.state_changed', from: 'online', to: 'draining' },
      { type: 'agent.state_changed', from: 'draining', to: 'online' },
    ]);
  });

  test('with numbers that mean nothing keeps the last good ones', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a'));
    const { leaseId } = reply;
    bench.registry.heartbeat('a', { leaseId, load: { active: 1, queued: 0 }, avgLatencyMs: 10 });
    bench.registry.heartbeat('a', { leaseId, load: { active: Number.NaN, queued: 0 }, avgLatencyMs: Number.NaN });
    expect(bench.registry.get('a')).toMatchObject({ reportedLoad: { active: 1, queued: 0 }, avgLatencyMs: 10 });
  });

  test('of an unknown agent is refused', () => {
    expect(() => makeBench().registry.heartbeat('nobody', { leaseId: 'x' })).toThrow(
      expect.objectContaining({ code: 'AR_ERR_LEASE_FORGOTTEN' }),
    );
  });

  test('never changes what a reader was handed', async () => {
    const bench = makeBench();
    const { reply } = await bench.registry.register(registrationOf('a'));
    const before = bench.registry.view.agentsOf('default', CITY);
    const copy = structuredClone(before);
    bench.registry.heartbeat('a', { leaseId: reply.leaseId, load: { active: 5, queued: 0 } });
    await bench.registry.register(registrationOf('b'));
    expect(before).toEqual(copy);
    expect(bench.registry.view.agentsOf('default', CITY)).toHaveLength(2);
  });
});
