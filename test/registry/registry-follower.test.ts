import { describe, expect, test } from 'vitest';
import type { AgentRecord } from '../../src/registry/index.ts';
import { makeBench, registrationOf } from './registry-bench.ts';

/** Two registries, of which the second takes in what the first has stored. */
function pair() {
  const [one, two] = [makeBench(), makeBench()];
  const told = async (
    agentId: string,
    changes: Partial<AgentRecord> = {},
    why = 'registered',
  ): Promise<AgentRecord> => {
    const { agents, entries } = await one.store.load();
    const record = agents.find((agent) => agent.agentId === agentId);
    if (record === undefined) throw new Error(`${agentId} is not stored`);
    const changed = { ...record, ...changes };
    two.registry.follower.stored({ putEntries: entries, putAgents: [changed], why });
    return changed;
  };
  return { one, two, told };
}

describe('following another instance', () => {
  test('knows and finds what it registered, and lets go of what left', async () => {
    const { one, two, told } = pair();
    await one.registry.register(registrationOf('a'));
    const record = await told('a');
    expect(two.registry.get('a')).toMatchObject({ state: 'online', incarnation: 1 });
    expect([...two.index.current.keys()]).toEqual(['default/weather.query.city']);
    expect(two.dictionary.knows('weather.query.city')).toBe(true);
    two.registry.follower.stored({ removeAgents: [record.agentId], why: 'withdrawn' });
    expect(() => two.registry.get('a')).toThrowError(expect.objectContaining({ code: 'AR_ERR_AGENT_NOT_FOUND' }));
    expect(two.index.current.size).toBe(0);
    expect(two.store.commits).toBe(0);
  });

  test('takes states as stored, with their reasons, and the newest lease only', async () => {
    const { one, two, told } = pair();
    const { reply } = await one.registry.register(registrationOf('a'));
    await told('a');
    await told('a', { offlineAt: 1, revision: 2 }, 'lease_lapsed');
    expect(two.registry.get('a')).toMatchObject({ state: 'offline', stateReason: 'lease_lapsed', revision: 2 });
    await told('a', { offlineAt: null, revision: 3 }, 'beat');
    expect(two.registry.get('a')).toMatchObject({ state: 'online', revision: 3 });
    await one.registry.register(registrationOf('a'));
    await told('a');
    expect(() => two.registry.heartbeat('a', { leaseId: reply.leaseId })).toThrowError(
      expect.objectContaining({ code: 'AR_ERR_STALE_LEASE' }),
    );
  });

  test('decides a registration again that another instance was faster with while its texts were embedded', async () => {
    const { one, two, told } = pair();
    await one.registry.register(registrationOf('a'));
    two.index.onPrepare = async () => {
      two.index.onPrepare = undefined;
      await told('a');
    };
    const { reply, created } = await two.registry.register(registrationOf('a'));
    expect([reply.incarnation, created]).toEqual([2, false]);
    expect((await two.store.load()).agents).toMatchObject([{ incarnation: 2, leaseId: reply.leaseId }]);
    expect(two.store.commits).toBe(1);
  });

  test('takes in a registration whose answer was lost, and the next try as the next start', async () => {
    const bench = makeBench();
    bench.store.losesAnswers = true;
    await expect(bench.registry.register(registrationOf('a'))).rejects.toMatchObject({
      code: 'AR_ERR_STORE_UNAVAILABLE',
    });
    expect(() => bench.registry.get('a')).toThrowError(expect.objectContaining({ code: 'AR_ERR_AGENT_NOT_FOUND' }));
    const { agents, entries } = await bench.store.load();
    bench.registry.follower.stored({ putAgents: agents, putEntries: entries });
    bench.store.losesAnswers = false;
    const { reply, created } = await bench.registry.register(registrationOf('a'));
    expect([reply.incarnation, created]).toEqual([2, false]);
    expect(bench.registry.heartbeat('a', { leaseId: reply.leaseId }).state).toBe('online');
    expect((await bench.store.load()).agents).toMatchObject([{ incarnation: 2, leaseId: reply.leaseId }]);
    expect(bench.events.map(({ type }) => type)).toEqual(['agent.registered']);
  });

  test('counts beats heard elsewhere as beats, of the newest lease', async () => {
    const { one, two, told } = pair();
    const { reply } = await one.registry.register(registrationOf('a', { heartbeatIntervalMs: 1_000 }));
    await told('a');
    const load = { active: 3, queued: 0, max: 8 };
    for (let beat = 0; beat < 10; beat++) {
      two.clock.advance(900);
      two.registry.follower.beat({ agentId: 'a', leaseId: reply.leaseId, load });
    }
    expect(two.registry.get('a')).toMatchObject({ state: 'online', reportedLoad: load });
    for (let beat = 0; beat < 10; beat++) {
      two.clock.advance(900);
      two.registry.follower.beat({ agentId: 'a', leaseId: 'lease_of_before', load });
    }
    expect(two.registry.get('a').state).toBe('offline');
    // Its mark came too late: the agent was alive for another instance, so it is for this one.
    two.registry.follower.beat({ agentId: 'a', leaseId: reply.leaseId });
    expect(two.registry.get('a').state).toBe('online');
  });

  test('shares doubts and ejections that are not stored, and tells none of it on', async () => {
    const { one, two, told } = pair();
    await one.registry.register(registrationOf('a'));
    await told('a');
    const { follower } = two.registry;
    two.events.length = 0;
    follower.state({ agentId: 'a', incarnation: 1, to: 'suspect', why: 'beat_missed' });
    expect(two.registry.get('a').state).toBe('suspect');
    follower.state({ agentId: 'a', incarnation: 2, to: 'ejected', why: 'ejected', forMs: 1_000 });
    expect(two.registry.get('a').state).toBe('suspect');
    follower.state({ agentId: 'a', incarnation: 1, to: 'ejected', why: 'ejected', forMs: 1_000 });
    expect(two.registry.get('a').state).toBe('ejected');
    follower.state({ agentId: 'a', incarnation: 1, to: 'online', why: 'probe_answered' });
    expect(two.registry.get('a').state).toBe('online');
    expect(two.events.map(({ type }) => type)).toEqual(Array(3).fill('agent.state_changed'));
    expect(follower.isFollowing).toBe(false);
  });

  test('does nothing of what time does while another instance sweeps', async () => {
    const { one, two, told } = pair();
    two.registry.setSweeping(false);
    await one.registry.register(registrationOf('a', { heartbeatIntervalMs: 1_000 }));
    await told('a');
    two.clock.advance(60_000);
    expect(two.registry.get('a').state).toBe('online');
    two.registry.setSweeping(true);
    two.clock.advance(10_000);
    expect(two.registry.get('a').state).toBe('offline');
  });
});
