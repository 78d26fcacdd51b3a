/** Whatever agents, callers, operators and time do, in any order: the laws that every state keeps. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CapabilityName } from '../../src/core/index.ts';
import { isRoutable } from '../../src/registry/index.ts';
import { makeBench, pass, registrationOf, settle } from './registry-bench.ts';

const CITY = 'weather.query.city' as CapabilityName;
const HEALTH = { transport: { type: 'http', endpoint: 'http://a.example', healthEndpoint: 'http://a.example/health' } };
const AGENTS = ['a', 'b', 'c'];

const move = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('beat' as const),
      status: fc.constantFrom('healthy', 'busy', 'draining', undefined),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 50_000 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('register' as const), ttl: fc.constantFrom(undefined, 30, 120) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('fail' as const, 'probe_fails' as const, 'probe_answers' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'cordon' as const,
        'uncordon' as const,
        'drain' as const,
        'undrain' as const,
        'stall' as const,
      ),
    }),
  },
);
const moves = fc.array(fc.tuple(fc.constantFrom(...AGENTS), move), { maxLength: 40 });

test('each change of a state is told once, in order, and every state follows from what is stored and known', async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (steps) => {
      const bench = makeBench({ registry: { maxEjectedShare: 0.5, drainTimeoutMs: 40_000, keepOfflineMs: 120_000 } });
      const { registry } = bench;
      const leases = new Map<string, string>();
      for (const [agentId, step] of steps) {
        const isKnown = registry.view.agent(agentId) !== undefined;
        if (step.do === 'wait') await pass(bench.clock, step.ms, 5_000);
        else if (step.do === 'stall') bench.clock.stall(20_000);
        else if (step.do === 'probe_fails') bench.prober.fail();
        else if (step.do === 'probe_answers') bench.prober.say();
        else if (step.do === 'register') {
          const { reply } = await registry.register(registrationOf(agentId, { ...HEALTH, ttl: step.ttl }));
          leases.set(agentId, reply.leaseId);
        } else if (!isKnown) continue;
        else if (step.do === 'beat')
          registry.heartbeat(agentId, {
            leaseId: leases.get(agentId) ?? '',
            ...(step.status === undefined ? {} : { status: step.status as 'busy' }),
          });
        else if (step.do === 'fail') for (let i = 0; i < 4; i++) registry.report(agentId, { outcome: 'failure' });
        else if (step.do === 'cordon') await registry.cordon(agentId, { reason: 'x' }, 'ops');
        else if (step.do === 'uncordon') await registry.uncordon(agentId);
        else if (step.do === 'drain') await registry.drain(agentId, {}, null, 'ops');
        else await registry.endDrain(agentId);
        await settle();
        assertTold(bench);
        assertWhole(bench);
      }
      await registry.stop();
      assertStored(bench, (await bench.store.load()).agents);
    }),
    { numRuns: 120 },
  );
});

type Bench = ReturnType<typeof makeBench>;

/** From `registered` on, every event goes on where the last one of its agent ended, and the last one is the truth. */
function assertTold({ events, registry }: Bench): void {
  const states = new Map<string, string>();
  let epoch = 0;
  let updated: string | null = null;
  for (const event of events) {
    if (!('agentId' in event) || event.agentId === null) continue;
    // A start that says something new may also move the state: two events of one change, at its epoch.
    const isSameChange = event.type === 'agent.state_changed' && event.agentId === updated;
    if (!isSameChange || event.epoch !== epoch) expect(event.epoch).toBeGreaterThan(epoch);
    epoch = event.epoch;
    updated = event.type === 'agent.updated' ? event.agentId : null;
    if (event.type === 'agent.registered') states.set(event.agentId, 'online');
    else if (event.type === 'agent.evicted') states.delete(event.agentId);
    else if (event.type === 'agent.state_changed') {
      expect(event.from).toBe(states.get(event.agentId));
      expect(event.to).not.toBe(event.from);
      states.set(event.agentId, event.to);
    }
  }
  const shown = registry.list({ limit: 10 }).items.map(({ agentId, state }) => [agentId, state] as const);
  expect(new Map(shown)).toEqual(states);
}

function assertWhole({ registry }: Bench): void {
  for (const { record, liveness } of registry.view.agentsOf('default', CITY)) {
    if (isRoutable(liveness.state)) {
      expect([record.offlineAt, record.cordoned, record.drain, liveness.ejectedDueAt]).toEqual([
        null,
        null,
        null,
        null,
      ]);
    }
    if (record.cordoned !== null) expect(liveness.state).toBe('cordoned');
  }
  const { ejected } = registry.counts();
  expect(ejected).toBeLessThanOrEqual(1);
  expect(registry.probes).toBeLessThanOrEqual(AGENTS.length);
}

/** What a restart would find is what memory had. */
function assertStored({ registry }: Bench, stored: readonly { readonly agentId: string }[]): void {
  for (const record of stored) expect(record).toEqual(registry.view.agent(record.agentId)?.record);
  expect(stored).toHaveLength(registry.list({ limit: 10 }).items.length);
}

test('a beat that finds its time over is one change', async () => {
  const bench = makeBench();
  const { reply } = await bench.registry.register(registrationOf('a', { ttl: 40 }));
  bench.clock.advance(36_000);
  bench.registry.setSweeping(false);
  bench.clock.advance(4_000);
  expect(bench.registry.heartbeat('a', { leaseId: reply.leaseId, status: 'busy' })).toMatchObject({ state: 'offline' });
  expect(bench.moves()).toEqual(['a: online > suspect (beat_missed)', 'a: suspect > offline (expired)']);
});

test('a start that says something new, of an agent that was busy, is two events of one change', async () => {
  const bench = makeBench();
  const { reply } = await bench.registry.register(registrationOf('a', { ttl: 30 }));
  bench.registry.heartbeat('a', { leaseId: reply.leaseId, status: 'busy' });
  bench.events.length = 0;
  await bench.registry.register(registrationOf('a'));
  const { epoch } = bench.registry.view;
  expect(bench.events).toMatchObject([
    { type: 'agent.updated', agentId: 'a', incarnation: 2, epoch },
    { type: 'agent.state_changed', agentId: 'a', incarnation: 2, from: 'busy', to: 'online', why: 'registered', epoch },
  ]);
});
