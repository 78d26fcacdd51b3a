import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/core/index.ts';
import { CallerReports } from '../../src/registry/caller-reports.ts';
import { makeBench, pass, type RegistryBench, registrationOf, settle } from './registry-bench.ts';

const HEALTH = { transport: { type: 'http', endpoint: 'http://a.example', healthEndpoint: 'http://a.example/health' } };
const stateOf = (bench: RegistryBench, agentId = 'a0'): string => bench.registry.get(agentId).state;
const fail = (bench: RegistryBench, agentId = 'a0', times = 3): void => {
  for (let i = 0; i < times; i++) bench.registry.report(agentId, { outcome: 'failure' });
};

/** `count` agents that beat in time, so that only reports decide. */
async function fleet(count: number, changes: Record<string, unknown> = {}, share = 0.1) {
  const bench = makeBench({ registry: { maxEjectedShare: share } });
  const leases = new Map<string, string>();
  for (let i = 0; i < count; i++) {
    const { reply } = await bench.registry.register(
      registrationOf(`a${i}`, { heartbeatIntervalMs: 3_600_000, ...changes }),
    );
    leases.set(`a${i}`, reply.leaseId);
  }
  const beat = (agentId = 'a0') => bench.registry.heartbeat(agentId, { leaseId: leases.get(agentId) ?? '' });
  return { bench, beat };
}

/** Three bad windows of ten seconds. */
async function failLong(bench: RegistryBench, agentId = 'a0'): Promise<void> {
  for (let window = 0; window < 3; window++) {
    fail(bench, agentId);
    await settle();
    if (window < 2) await pass(bench.clock, 10_000, 1_000);
  }
}

describe('a reported failure', () => {
  test('makes the agent suspect and asks its endpoint at once; an answer makes it online again', async () => {
    const { bench } = await fleet(1, HEALTH);
    expect(bench.registry.report('a0', { outcome: 'timeout' })).toEqual({
      agentId: 'a0',
      state: 'suspect',
      stateReason: 'failure_reported',
      counted: true,
    });
    await settle();
    expect(bench.prober.asked).toHaveLength(1);
    expect(bench.registry.get('a0')).toMatchObject({ state: 'online', stateReason: 'probe_answered' });
  });

  test('of a request that was reported before counts nothing, a success changes no state', async () => {
    const { bench } = await fleet(1);
    expect(bench.registry.report('a0', { outcome: 'success', requestId: 'r' })).toMatchObject({
      state: 'online',
      counted: true,
    });
    expect(bench.registry.report('a0', { outcome: 'failure', requestId: 'r' })).toMatchObject({
      state: 'online',
      counted: false,
    });
    expect(bench.events.filter((event) => event.type === 'agent.state_changed')).toEqual([]);
  });

  test('is not undone by a beat before ten seconds are over, nor while its probe stays unanswered', async () => {
    const { bench, beat } = await fleet(1, HEALTH);
    bench.prober.fail();
    bench.registry.report('a0', { outcome: 'refused' });
    await pass(bench.clock, 9_999);
    expect(beat().state).toBe('suspect');
    await pass(bench.clock, 5_000);
    expect(beat().state).toBe('suspect');
    bench.prober.say();
    await pass(bench.clock, 5_000);
    beat();
    await pass(bench.clock, 2_000);
    expect(stateOf(bench)).toBe('online');
  });

  test('without an endpoint to ask is over with the first beat after ten seconds', async () => {
    const { bench, beat } = await fleet(1);
    bench.registry.report('a0', { outcome: 'failure' });
    bench.clock.advance(9_999);
    expect(beat().state).toBe('suspect');
    bench.clock.advance(1);
    expect(beat().state).toBe('online');
  });

  test('a thousand times over is no storm of probes or events', async () => {
    const { bench } = await fleet(1, HEALTH);
    for (let i = 0; i < 1_000; i++) {
      bench.registry.report('a0', { outcome: 'failure' });
      if (i % 100 === 0) await settle();
    }
    expect(bench.prober.asked).toHaveLength(1);
    expect(bench.moves()).toHaveLength(2);
  });

  test('of an agent that is not known is refused', () => {
    expect(() => makeBench().registry.report('nobody', { outcome: 'failure' })).toThrow(
      expect.objectContaining({ code: 'AR_ERR_AGENT_NOT_FOUND' }),
    );
  });
});

describe('an ejection', () => {
  test('comes after three bad windows, lasts 30 s and longer each time, 300 s at most', async () => {
    const { bench } = await fleet(10);
    const lasted: number[] = [];
    for (let time = 0; time < 12; time++) {
      await failLong(bench);
      expect(stateOf(bench)).toBe('ejected');
      let ms = 0;
      while (stateOf(bench) === 'ejected') {
        bench.clock.advance(1_000);
        ms += 1_000;
      }
      lasted.push(ms);
    }
    expect(lasted.slice(0, 3)).toEqual([30_000, 60_000, 90_000]);
    expect(lasted.slice(-2)).toEqual([300_000, 300_000]);
    await pass(bench.clock, 600_001, 60_000);
    await failLong(bench);
    bench.clock.advance(30_000);
    expect(stateOf(bench)).not.toBe('ejected');
  });

  test('needs three windows in a row, each with more failures than successes', async () => {
    const { bench } = await fleet(10);
    fail(bench);
    bench.clock.advance(10_000);
    fail(bench);
    bench.clock.advance(20_000);
    fail(bench);
    expect(stateOf(bench)).toBe('suspect');
    for (let window = 0; window < 6; window++) {
      bench.clock.advance(10_000);
      for (let i = 0; i < 4; i++) bench.registry.report('a0', { outcome: 'success' });
      fail(bench, 'a0', 4);
    }
    expect(stateOf(bench)).toBe('suspect');
  });

  test('needs a failed probe where there is an endpoint to ask', async () => {
    const { bench } = await fleet(10, HEALTH);
    await failLong(bench);
    await pass(bench.clock, 10_000);
    fail(bench);
    await settle();
    expect(stateOf(bench)).toBe('online');
    bench.prober.fail();
    await pass(bench.clock, 10_000);
    fail(bench);
    expect(stateOf(bench)).toBe('suspect');
    await pass(bench.clock, 3_000);
    expect(bench.registry.get('a0')).toMatchObject({ state: 'ejected', stateReason: 'ejected' });
  });

  test('never takes more than the share of a capability, and never its last agent', async () => {
    fc.assert(
      await fc.asyncProperty(fc.integer({ min: 1, max: 24 }), fc.constantFrom(0.1, 0.5, 1), async (count, share) => {
        const { bench } = await fleet(count, {}, share);
        for (let window = 0; window < 3; window++) {
          for (let i = 0; i < count; i++) fail(bench, `a${i}`);
          if (window < 2) bench.clock.advance(10_000);
        }
        const { ejected } = bench.registry.counts();
        expect(ejected).toBe(Math.min(Math.floor(share * count), count - 1));
      }),
      { numRuns: 20 },
    );
  });

  test("is ended by a new start, and by an operator's word outdone", async () => {
    const { bench } = await fleet(10);
    await failLong(bench);
    await bench.registry.cordon('a0', { reason: 'broken' }, 'ops');
    expect(stateOf(bench)).toBe('cordoned');
    await bench.registry.uncordon('a0');
    expect(stateOf(bench)).toBe('ejected');
    await bench.registry.register(registrationOf('a0'));
    expect(stateOf(bench)).toBe('online');
  });
});

test('counts are clamped and forgotten with the agent', () => {
  const clock = new ManualClock();
  const reports = new CallerReports(clock);
  for (let i = 0; i < 2_000; i++) reports.count('a', { outcome: 'failure', requestId: `r${i}` });
  expect(reports.count('a', { outcome: 'failure', requestId: 'r999' })).toBe(false);
  expect(reports.size).toBe(1);
  reports.eject('a');
  expect(reports.size).toBe(1);
  reports.forget('a');
  expect(reports.size).toBe(0);
});
