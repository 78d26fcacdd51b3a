import { describe, expect, test, vi } from 'vitest';
import { Trouble } from '../../src/redis/index.ts';
import type { ProbeAnswer } from '../../src/registry/index.ts';
import { makeBench, pass, type RegistryBench, registrationOf, settle } from './registry-bench.ts';

const HEALTH = { transport: { type: 'http', endpoint: 'http://a.example', healthEndpoint: 'http://a.example/health' } };
const stateOf = (bench: RegistryBench, agentId = 'a'): string => bench.registry.get(agentId).state;

async function withAgent(changes: Record<string, unknown> = {}, agentId = 'a', bench = makeBench()) {
  const { reply } = await bench.registry.register(registrationOf(agentId, changes));
  return { bench, beat: (more = {}) => bench.registry.heartbeat(agentId, { leaseId: reply.leaseId, ...more }) };
}

/** The next probe waits until it is given its answer; those after it are the prober's own. */
function held({ prober }: RegistryBench): (answer: ProbeAnswer) => void {
  let answer: (answer: ProbeAnswer) => void = () => undefined;
  const answered = new Promise<ProbeAnswer>((resolve) => {
    answer = resolve;
  });
  vi.spyOn(prober, 'probe').mockReturnValueOnce(answered);
  return answer;
}

describe('a missed beat', () => {
  test('makes the agent suspect after the jitter it was asked for and two seconds of grace, not before', async () => {
    const { bench, beat } = await withAgent();
    bench.clock.advance(34_999);
    expect(stateOf(bench)).toBe('online');
    bench.clock.advance(1);
    expect(bench.registry.get('a')).toMatchObject({ state: 'suspect', stateReason: 'beat_missed', lastProbe: null });
    expect(beat().state).toBe('online');
    expect(bench.moves()).toEqual(['a: online > suspect (beat_missed)', 'a: suspect > online (beat)']);
  });

  test('of a quick agent is noticed within two of its intervals', async () => {
    const { bench } = await withAgent({ heartbeatIntervalMs: 100 });
    bench.clock.advance(159);
    expect(stateOf(bench)).toBe('online');
    bench.clock.advance(1);
    expect(stateOf(bench)).toBe('suspect');
    bench.clock.advance(140);
    expect(stateOf(bench)).toBe('offline');
  });

  test('asks the health endpoint at once; an answer makes it online again but lengthens nothing', async () => {
    const { bench } = await withAgent(HEALTH);
    await pass(bench.clock, 35_000);
    expect(bench.prober.asked).toEqual(['http://a.example/health']);
    expect(stateOf(bench)).toBe('online');
    await pass(bench.clock, 30_000);
    expect(bench.prober.asked).toHaveLength(2);
    // The lease ends where it would have ended: from then on every silence asks, and the first refusal is the end.
    await pass(bench.clock, 25_000);
    expect([bench.prober.asked.length, stateOf(bench)]).toEqual([3, 'online']);
    bench.prober.fail();
    await pass(bench.clock, 4_999);
    expect(stateOf(bench)).toBe('online');
    await pass(bench.clock, 3_000);
    expect(stateOf(bench)).toBe('offline');
    expect(bench.moves().slice(-2)).toEqual([
      'a: online > suspect (beat_missed)',
      'a: suspect > offline (probe_failed)',
    ]);
    expect(bench.registry.probes).toBe(0);
  });

  test('asks three times with jittered waits before it believes a refusal', async () => {
    const { bench } = await withAgent(HEALTH);
    bench.prober.fail();
    await pass(bench.clock, 35_000);
    expect(bench.prober.asked).toHaveLength(1);
    await pass(bench.clock, 199, 199);
    expect(bench.prober.asked).toHaveLength(1);
    await pass(bench.clock, 1);
    expect(bench.prober.asked).toHaveLength(2);
    await pass(bench.clock, 400, 400);
    expect(bench.prober.asked).toHaveLength(3);
    expect(bench.registry.get('a')).toMatchObject({
      state: 'suspect',
      lastProbe: { answered: false, detail: 'connection refused' },
    });
  });

  test('and a failed probe make it offline to the millisecond at the third', async () => {
    const { bench } = await withAgent(HEALTH);
    bench.prober.fail();
    await pass(bench.clock, 89_000);
    expect(stateOf(bench)).toBe('suspect');
    bench.clock.advance(1_000);
    expect(bench.registry.get('a')).toMatchObject({ state: 'offline', stateReason: 'probe_failed' });
    await settle();
    expect((await bench.store.load()).agents).toMatchObject([{ offlineAt: bench.clock.wallNow(), revision: 2 }]);
  });

  test('is forgiven where the beat comes while the probe still runs', async () => {
    const { bench, beat } = await withAgent(HEALTH);
    bench.prober.fail();
    bench.clock.advance(35_000);
    expect(beat().state).toBe('online');
    await pass(bench.clock, 5_000);
    expect(bench.registry.get('a')).toMatchObject({ state: 'online', lastProbe: null });
  });
});

describe('what a probe answers', () => {
  test.each([
    ['busy', 'busy'],
    ['healthy', 'online'],
    ['draining', 'draining'],
  ] as const)('%s makes the agent %s', async (said, state) => {
    const { bench, beat } = await withAgent(HEALTH);
    bench.prober.say(said);
    await pass(bench.clock, 35_000);
    expect(stateOf(bench)).toBe(state);
    expect(beat({ status: 'healthy' }).state).toBe('online');
  });

  test('means nothing for a newer start of the agent', async () => {
    const { bench } = await withAgent(HEALTH);
    bench.prober.fail();
    bench.clock.advance(35_000);
    const again = bench.registry.register(registrationOf('a', HEALTH));
    await pass(bench.clock, 3_000);
    await again;
    expect(bench.registry.get('a')).toMatchObject({ state: 'online', incarnation: 2, lastProbe: null });
  });

  test('of the start before says nothing of the next one, whatever it was', async () => {
    const { bench } = await withAgent(HEALTH);
    const answer = held(bench);
    bench.clock.advance(35_000);
    await bench.registry.register(registrationOf('a', HEALTH));
    answer({ isAnswered: true, status: 'draining', detail: 'answered 200' });
    await settle();
    expect(bench.registry.get('a')).toMatchObject({ state: 'online', incarnation: 2, lastProbe: null });
  });

  test('ends no lease once another instance watches them', async () => {
    const { bench } = await withAgent(HEALTH);
    const answer = held(bench);
    bench.clock.advance(95_000);
    bench.registry.setSweeping(false);
    bench.prober.fail();
    answer(bench.prober.answer);
    await pass(bench.clock, 5_000);
    expect(bench.registry.get('a')).toMatchObject({ state: 'suspect', lastProbe: { answered: false } });
    expect(bench.store.ends).toEqual([]);
  });

  test('comes one at a time of an agent and bounded in all', async () => {
    const bench = makeBench({ registry: { preserveMs: 0 } });
    let running = 0;
    let most = 0;
    const release: (() => void)[] = [];
    bench.prober.probe = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => release.push(resolve));
      running -= 1;
      return { isAnswered: true, status: null, detail: '' };
    };
    for (let i = 0; i < 200; i++) await bench.registry.register(registrationOf(`a${i}`, HEALTH));
    bench.clock.advance(35_000);
    bench.clock.advance(30_000);
    expect([most, bench.registry.probes]).toEqual([64, 200]);
    while (release.length > 0) {
      for (const one of release.splice(0)) one();
      await settle();
    }
    expect([most, bench.registry.probes, running]).toEqual([64, 0, 0]);
  });
});

describe('time that nobody lived through', () => {
  test('a process that stood still gives everybody one beat before it judges', async () => {
    const { bench, beat } = await withAgent();
    await bench.registry.register(registrationOf('dead'));
    bench.clock.stall(600_000);
    expect([stateOf(bench), stateOf(bench, 'dead')]).toEqual(['online', 'online']);
    bench.clock.advance(30_000);
    expect(beat().state).toBe('online');
    bench.clock.advance(4_999);
    expect(stateOf(bench, 'dead')).toBe('online');
    bench.clock.advance(1);
    expect([stateOf(bench), stateOf(bench, 'dead')]).toEqual(['online', 'offline']);
  });

  test('beats that could not be taken count as no silence, also for whoever watches the leases only afterwards', async () => {
    const trouble = new Trouble();
    const deafUntil = (graceMs: number): number => trouble.deafUntil(bench.clock.now(), graceMs);
    const beats = { assertOpen: () => undefined, deafUntil, send: () => undefined };
    const bench = makeBench({ beats });
    const { reply } = await bench.registry.register(registrationOf('a'));
    await bench.registry.register(registrationOf('dead'));
    bench.registry.setSweeping(false);
    trouble.begin(bench.clock.now());
    bench.clock.advance(200_000);
    trouble.end(bench.clock.now());
    bench.registry.setSweeping(true);
    bench.clock.advance(1_000);
    expect([stateOf(bench), stateOf(bench, 'dead')]).toEqual(['online', 'online']);
    bench.registry.heartbeat('a', { leaseId: reply.leaseId });
    bench.clock.advance(34_000);
    expect([stateOf(bench), stateOf(bench, 'dead')]).toEqual(['online', 'offline']);
  });

  test('a wall clock that jumps moves no deadline, that of expiresAt neither', async () => {
    const { bench, beat } = await withAgent({ ttl: 100, heartbeatIntervalMs: 60_000 });
    bench.clock.shiftWall(600_000);
    expect(beat()).toMatchObject({ state: 'online', warnings: [] });
    bench.clock.advance(80_000);
    expect(beat().warnings).toMatchObject([{ code: 'expires_soon' }]);
    bench.clock.shiftWall(-1_200_000);
    bench.clock.advance(19_999);
    expect(stateOf(bench)).toBe('online');
    bench.clock.advance(1);
    expect(bench.registry.get('a')).toMatchObject({ state: 'offline', stateReason: 'expired' });
  });
});

describe('sweeping', () => {
  test('switched off lets time change nobody, and on again catches up', async () => {
    const { bench, beat } = await withAgent();
    await bench.registry.register(registrationOf('b'));
    bench.registry.setSweeping(false);
    bench.clock.advance(600_000);
    expect([stateOf(bench), stateOf(bench, 'b'), bench.clock.pendingTimers]).toEqual(['online', 'online', 0]);
    beat();
    bench.registry.setSweeping(true);
    bench.clock.advance(0);
    expect([stateOf(bench), stateOf(bench, 'b')]).toEqual(['online', 'offline']);
  });
});

describe('the end of a lease', () => {
  const storedOf = async ({ store }: RegistryBench) => (await store.load()).agents.map(({ offlineAt }) => offlineAt);

  test.each([
    ['lease_lapsed', {}],
    ['probe_failed', HEALTH],
  ] as const)('for silence (%s) and eviction are marked as that for the store', async (why, changes) => {
    const { bench } = await withAgent(changes, 'a', makeBench({ registry: { keepOfflineMs: 60_000 } }));
    bench.prober.fail();
    await pass(bench.clock, 95_000);
    expect(bench.store.ends).toEqual([why]);
    await pass(bench.clock, 60_000);
    expect(bench.store.ends).toEqual([why, 'evicted']);
  });

  test('of a cordoned agent is marked, though its state stays', async () => {
    const { bench } = await withAgent();
    await bench.registry.cordon('a', { reason: 'broken' }, 'op');
    await pass(bench.clock, 95_000);
    expect([bench.store.ends, stateOf(bench)]).toEqual([['cordoned'], 'cordoned']);
  });

  test('is not what `expiresAt` and a drain bring: any instance may store those', async () => {
    const { bench, beat } = await withAgent({ ttl: 60, heartbeatIntervalMs: 60_000 });
    bench.clock.advance(59_000);
    beat();
    await pass(bench.clock, 2_000);
    expect(bench.registry.get('a')).toMatchObject({ state: 'offline', stateReason: 'expired' });
    expect([bench.store.ends, (await storedOf(bench))[0]]).toEqual([[], bench.clock.wallNow() - 1_000]);
  });

  test('that the store refuses is asked for once, then again later, and no word of others stores it', async () => {
    const { bench } = await withAgent();
    bench.store.keepsLeases = true;
    await pass(bench.clock, 91_000);
    expect([bench.store.ends, stateOf(bench)]).toEqual([['lease_lapsed'], 'offline']);
    await bench.registry.cordon('a', { reason: 'broken' }, 'op');
    expect(await storedOf(bench)).toEqual([null]);
    bench.store.keepsLeases = false;
    await pass(bench.clock, 5_000);
    expect(await storedOf(bench)).toEqual([bench.clock.wallNow() - 6_000]);
  });

  test('that was not stored is stored by the next time it sweeps, and never once the agent is back', async () => {
    const { bench } = await withAgent({}, 'a');
    const { beat } = await withAgent({}, 'b', bench);
    bench.store.isBroken = true;
    await pass(bench.clock, 91_000);
    bench.registry.setSweeping(false);
    bench.store.isBroken = false;
    beat();
    bench.store.keepsLeases = true;
    await pass(bench.clock, 60_000);
    expect([bench.store.ends, await storedOf(bench)]).toEqual([[], [null, null]]);
    bench.store.keepsLeases = false;
    bench.registry.setSweeping(true);
    await pass(bench.clock, 5_000);
    expect([bench.store.ends, stateOf(bench), stateOf(bench, 'b')]).toEqual([['lease_lapsed'], 'offline', 'suspect']);
  });
});

test('200 starts of one agent under new ids leave nothing once the old ones are evicted', async () => {
  const bench = makeBench({ registry: { keepOfflineMs: 60_000, preserveMs: 0 } });
  for (let i = 0; i < 200; i++) {
    await bench.registry.register(registrationOf(`a-${i}`, HEALTH));
    bench.registry.report(`a-${i}`, { outcome: 'failure', requestId: `r${i}` });
    bench.prober.fail();
    await pass(bench.clock, 30_000, 10_000);
  }
  await pass(bench.clock, 300_000, 10_000);
  expect(bench.registry.list({ limit: 500 }).items).toEqual([]);
  expect(bench.registry.counts()).toEqual({
    online: 0,
    suspect: 0,
    busy: 0,
    draining: 0,
    ejected: 0,
    cordoned: 0,
    offline: 0,
  });
  expect((await bench.store.load()).agents).toEqual([]);
  expect([bench.registry.probes, bench.registry.reportedAgents, bench.clock.pendingTimers]).toEqual([0, 0, 0]);
});
